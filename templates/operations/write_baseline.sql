-- The bytes that the Storage Write API took for a dataset's tables during the last
-- @recent_minutes minutes, against the average of as long a time in the @baseline_hours
-- hours before. below_baseline tells of less than @fraction of it: a writer that is
-- healthy and cut off from its source fails no request, but writes nothing.
WITH minutes AS (
  SELECT
    table_id,
    start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @recent_minutes MINUTE) AS is_recent,
    total_input_bytes
  FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT
  WHERE
    start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @baseline_hours * 60 + @recent_minutes MINUTE)
    AND dataset_id = @dataset
    AND error_code = 'OK'
),
sums AS (
  SELECT
    table_id,
    SUM(IF(is_recent, total_input_bytes, 0)) AS recent_bytes,
    SUM(IF(is_recent, 0, total_input_bytes)) * @recent_minutes / (@baseline_hours * 60) AS baseline_bytes
  FROM minutes
  GROUP BY table_id
)
SELECT
  table_id AS table_name,
  recent_bytes,
  baseline_bytes,
  recent_bytes < @fraction * baseline_bytes AS below_baseline
FROM sums
ORDER BY table_id
