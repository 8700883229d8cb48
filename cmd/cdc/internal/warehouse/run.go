package warehouse

import (
	"context"
	"errors"
	"time"

	"cloud.google.com/go/bigquery"
)

// Run runs a statement that returns no rows, in a project, at a location; "" leaves
// that to BigQuery. Where BigQuery says that a table is altered too often (five times
// in ten seconds) it waits and asks again, for two minutes at most.
func (c *Client) Run(ctx context.Context, project, location, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, 8*callTime)
	defer cancel()
	for wait := time.Second; ; wait = min(2*wait, callTime) {
		err := c.runOnce(ctx, project, location, statement)
		if job := new(bigquery.Error); !errors.As(err, &job) || job.Reason != "rateLimitExceeded" && job.Reason != "jobRateLimitExceeded" {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

func (c *Client) runOnce(ctx context.Context, project, location, statement string) error {
	q := c.client.Query(statement)
	q.ProjectID, q.Location = project, location
	job, err := q.Run(ctx)
	if err != nil {
		return err
	}
	status, err := job.Wait(ctx)
	if err != nil {
		return err
	}
	return status.Err()
}
