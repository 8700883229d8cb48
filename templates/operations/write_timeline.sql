-- What the Storage Write API took and refused for a dataset's tables, minute by minute
-- of @hours hours.
SELECT
  start_timestamp,
  table_id AS table_name,
  error_code,
  SUM(total_requests) AS requests,
  SUM(total_rows) AS row_count,
  SUM(total_input_bytes) AS bytes
FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT
WHERE
  start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @hours HOUR)
  AND dataset_id = @dataset
GROUP BY start_timestamp, table_id, error_code
ORDER BY start_timestamp DESC, table_id, error_code
