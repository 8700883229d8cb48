package engine

import (
	"fmt"
	"time"

	bq "google.golang.org/api/bigquery/v2"
)

// assignment is how long the partition of a row that was streamed isn't known:
// "freshly streamed rows show NULL in _PARTITIONTIME until BigQuery assigns them,
// typically within minutes".
const assignment = 5 * time.Minute

// ByIngestion says whether a table is partitioned by the time of ingestion.
func ByIngestion(resource *bq.Table) bool {
	return resource.TimePartitioning != nil && resource.TimePartitioning.Field == ""
}

// partitionColumns select _PARTITIONTIME and _PARTITIONDATE of rows of currentSQL or of
// the baseline; nothing if the table isn't partitioned by the time of ingestion. A row
// is in the partition of its _at: an update moves it.
func (f *frozen) partitionColumns(now time.Time) []string {
	if f.ingestionUnit == "" {
		return nil
	}
	at := fmt.Sprintf("make_timestamptz(if(_kind = %d AND _at > %d, NULL, _at))", rowStreamed, now.Add(-assignment).UnixMicro())
	return []string{
		fmt.Sprintf("date_trunc('%s', %s) AS _PARTITIONTIME", f.ingestionUnit, at),
		fmt.Sprintf("date_trunc('%s', %s)::DATE AS _PARTITIONDATE", f.ingestionUnit, at),
	}
}
