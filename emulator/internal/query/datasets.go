package query

import (
	"context"
	"strings"

	bq "google.golang.org/api/bigquery/v2"

	"beamcdc/emulator/internal/engine"
	"beamcdc/emulator/internal/googlesql"
)

// createSchema runs CREATE SCHEMA.
func (s *run) createSchema(ctx context.Context, c *googlesql.CreateSchema) error {
	ref, err := s.datasetRef(c.Name)
	if err != nil {
		return err
	}
	s.result.Operation = "CREATE"
	if _, err := s.engine.Dataset(ref); err == nil && c.IfNotExists {
		s.result.Operation = "SKIP"
		return nil
	}
	resource := &bq.Dataset{}
	if err := s.setDatasetOptions(ctx, resource, c.Options); err != nil || s.request.DryRun {
		return err
	}
	_, err = s.engine.CreateDataset(ctx, ref, resource)
	return err
}

// alterSchema runs ALTER SCHEMA … SET OPTIONS.
func (s *run) alterSchema(ctx context.Context, a *googlesql.AlterSchema) error {
	ref, err := s.datasetRef(a.Name)
	if err != nil {
		return err
	}
	s.result.Operation = "ALTER"
	if _, err := s.engine.Dataset(ref); err != nil && a.IfExists {
		s.result.Operation = "SKIP"
		return nil
	}
	_, err = s.engine.ChangeDataset(ctx, ref, func(current *bq.Dataset) (*bq.Dataset, error) {
		changed := *current
		return &changed, s.setDatasetOptions(ctx, &changed, a.Options)
	})
	return err
}

func (s *run) setDatasetOptions(ctx context.Context, d *bq.Dataset, options []googlesql.Option) error {
	for _, o := range options {
		value, err := s.evaluate(ctx, o)
		if err != nil {
			return err
		}
		text, _ := value.(string)
		switch strings.ToLower(o.Name) {
		case "description":
			d.Description = text
		case "friendly_name":
			d.FriendlyName = text
		case "location":
			d.Location = text
		case "labels":
			if d.Labels, err = labelsOf(value); err != nil {
				return err
			}
		case "default_table_expiration_days":
			days, ok := number(value)
			if !ok && value != nil {
				return wrongType(o.Name, "FLOAT64")
			}
			d.DefaultTableExpirationMs = int64(days * 24 * 60 * 60 * 1000)
		default:
			return engine.Invalid("Unknown option: %s", engine.Clip(o.Name))
		}
	}
	return nil
}
