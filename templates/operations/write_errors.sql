-- The Storage Write API's requests for a dataset's tables that failed during @hours
-- hours, by code. The pipeline sends a request again until it is acknowledged: a code
-- that comes once is not a loss, one that keeps coming is a backlog.
SELECT
  table_id AS table_name,
  error_code,
  SUM(total_requests) AS requests,
  SUM(total_rows) AS rows_refused,
  MAX(start_timestamp) AS latest
FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT
WHERE
  start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @hours HOUR)
  AND dataset_id = @dataset
  AND error_code != 'OK'
GROUP BY table_id, error_code
ORDER BY latest DESC, table_id, error_code
