-- The slots that the background applies of a project's region used, on average of each
-- minute of @days days: what a BACKGROUND reservation for them has to hold.
--
-- JOBS_TIMELINE has a row for each second and job.
SELECT
  TIMESTAMP_TRUNC(period_start, MINUTE) AS minute,
  SUM(period_slot_ms) / (1000 * 60) AS slots_used,
  COUNT(DISTINCT job_id) AS applies
FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.JOBS_TIMELINE_BY_PROJECT
WHERE
  job_creation_time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @days DAY)
  AND job_id LIKE '%cdc_background%'
GROUP BY minute
ORDER BY minute DESC
