package ddl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"beamcdc/cmd/cdc/internal/warehouse"
)

// applier writes statements, and runs them where it is told to.
type applier struct {
	client   *warehouse.Client
	location string // of datasets that are to be created; "" is BigQuery's default
	out      io.Writer
	apply    bool
}

// all writes the plan, and runs it. Tables that can't be made what they should be are
// told in the end: the others are.
func (a *applier) all(ctx context.Context, plan []Statements) error {
	bad := 0
	for i := range plan {
		s := &plan[i]
		if s.Err != nil || a.apply && len(s.Left) > 0 {
			bad++
		}
		head := comment(s.About) + said(s.Notes, "note: ") + said(s.Left, "left to do: ")
		if s.Err != nil {
			head += comment("error: " + s.Err.Error())
		}
		if _, err := io.WriteString(a.out, head); err != nil {
			return err
		}
		for _, statement := range s.SQL {
			if err := a.statement(ctx, s, statement); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(a.out, "\n"); err != nil {
			return err
		}
	}
	switch {
	case bad == 1:
		return errors.New("one table isn't what it should be: the comments say why")
	case bad > 1:
		return fmt.Errorf("%d tables aren't what they should be: the comments say why", bad)
	}
	return nil
}

func (a *applier) statement(ctx context.Context, s *Statements, statement string) error {
	if _, err := io.WriteString(a.out, statement); err != nil || !a.apply {
		return err
	}
	location, err := a.client.Location(ctx, s.target.Project, s.target.Dataset)
	if err != nil {
		return fmt.Errorf("%s: looking where its dataset is: %w", s.About, err)
	}
	if location == "" {
		location = a.location
	}
	if err := a.client.Run(ctx, s.target.Project, location, statement); err != nil {
		return fmt.Errorf("%s: %w", s.About, err)
	}
	_, err = io.WriteString(a.out, comment("done"))
	return err
}
