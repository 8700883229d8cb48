-- How long the background applies of a dataset's tables took during @days days, by the
-- 95th percentile of the time from when they were asked for, and the max_staleness that
-- BigQuery's documentation recommends for that: twice as long, and seven minutes more.
-- Set the staleness that readers bear where that is more.
--
-- An unfinished apply has waited since unfinished_since: for slots, if that was long ago.
SELECT
  destination_table.table_id AS table_name,
  COUNT(end_time) AS applies,
  MAX(end_time) AS last_end,
  APPROX_QUANTILES(TIMESTAMP_DIFF(end_time, creation_time, MILLISECOND) / 1000, 100)[OFFSET(95)] AS p95_background_apply_duration_in_seconds,
  CEILING(APPROX_QUANTILES(TIMESTAMP_DIFF(end_time, creation_time, MILLISECOND) / 1000, 100)[OFFSET(95)] * 2 / 60) + 7
    AS recommended_max_staleness_with_buffer_in_minutes,
  COUNTIF(state != 'DONE') AS unfinished,
  MIN(IF(state != 'DONE', creation_time, NULL)) AS unfinished_since
FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.JOBS_BY_PROJECT
WHERE
  creation_time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @days DAY)
  AND job_id LIKE '%cdc_background%'
  AND destination_table.dataset_id = @dataset
GROUP BY 1
ORDER BY 1
