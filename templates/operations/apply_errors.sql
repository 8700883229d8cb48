-- The background applies of a dataset's tables that failed during @days days, by reason.
SELECT
  destination_table.table_id AS table_name,
  error_result.reason AS reason,
  COUNT(*) AS applies,
  MAX(end_time) AS latest,
  MAX_BY(error_result.message, end_time) AS message
FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.JOBS_BY_PROJECT
WHERE
  creation_time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @days DAY)
  AND job_id LIKE '%cdc_background%'
  AND destination_table.dataset_id = @dataset
  AND error_result IS NOT NULL
GROUP BY 1, 2
ORDER BY latest DESC
