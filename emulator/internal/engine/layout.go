package engine

import bq "google.golang.org/api/bigquery/v2"

// checkTable refuses what this emulator has no tables for.
func checkTable(resource *bq.Table) error {
	switch {
	case resource.View != nil && resource.View.Query == "":
		return Invalid("A view needs a query.")
	case resource.View != nil && resource.TableConstraints != nil:
		return Invalid("A view can't have constraints.")
	case resource.MaterializedView != nil:
		return Unimplemented("materialized views are not implemented by this emulator")
	case resource.ExternalDataConfiguration != nil:
		return Unimplemented("external tables are not implemented by this emulator")
	case resource.SnapshotDefinition != nil, resource.CloneDefinition != nil:
		return Unimplemented("snapshots and clones are not implemented by this emulator")
	}
	if resource.MaxStaleness != "" {
		if _, err := ParseInterval(resource.MaxStaleness); err != nil {
			return Invalid("Invalid value for maxStaleness: %s", Clip(resource.MaxStaleness))
		}
	}
	return nil
}

// checkLayout checks clustering and partitioning against the schema.
func checkLayout(resource *bq.Table, schema *Schema) error {
	if c := resource.Clustering; c != nil {
		if len(c.Fields) == 0 || len(c.Fields) > maxClustering {
			return Invalid("Clustering needs 1 to %d fields, not %d.", maxClustering, len(c.Fields))
		}
		for _, name := range c.Fields {
			if i, ok := schema.find(name); !ok {
				return Invalid("The field specified for clustering cannot be found in the schema: %s", Clip(name))
			} else if schema.Columns[i].Repeated || schema.Columns[i].Kind == KindStruct {
				return Invalid("Clustering is not supported on the type of field %s.", Clip(name))
			}
		}
	}
	if p := resource.TimePartitioning; p != nil {
		if err := checkTimePartitioning(p, schema); err != nil {
			return err
		}
	}
	if p := resource.RangePartitioning; p != nil {
		if i, ok := schema.find(p.Field); !ok || schema.Columns[i].Kind != KindInt64 || schema.Columns[i].Repeated {
			return Invalid("The field specified for range partitioning must be a column of type INTEGER: %s", Clip(p.Field))
		}
	}
	return nil
}

func checkTimePartitioning(p *bq.TimePartitioning, schema *Schema) error {
	switch p.Type {
	case "DAY", "HOUR", "MONTH", "YEAR":
	default:
		return Invalid("Invalid value for timePartitioning.type: %s", Clip(p.Type))
	}
	if p.Field == "" {
		return nil
	}
	i, ok := schema.find(p.Field)
	if !ok {
		return Invalid("The field specified for partitioning cannot be found in the schema: %s", Clip(p.Field))
	}
	c := schema.Columns[i]
	timed := c.Kind == KindTimestamp || c.Kind == KindDateTime || c.Kind == KindDate && p.Type != "HOUR"
	if !timed || c.Repeated {
		return Invalid("The field specified for partitioning can only be of type TIMESTAMP, DATE or DATETIME. The type found is: %s.", c.Kind)
	}
	return nil
}
