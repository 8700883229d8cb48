-- What was written to a dataset's tables since their changes were last applied.
--
-- BigQuery shows no count of pending changes. This one is of the Storage Write API's
-- acknowledged rows, which the timeline tells by the minute: at_most has those of the
-- watermark's own minute too, of which some are applied already, at_least doesn't. Both
-- count every change that was written, and those that were written twice twice: how
-- many rows of the table they will change is fewer. A table that was never applied
-- counts @days days.
SELECT
  w.table_id AS table_name,
  SUM(IF(t.upsert_stream_apply_watermark IS NULL OR w.start_timestamp > t.upsert_stream_apply_watermark, w.total_rows, 0)) AS at_least,
  SUM(w.total_rows) AS at_most,
  SUM(w.total_input_bytes) AS bytes_at_most,
  MIN(w.start_timestamp) AS since
FROM `${PROJECT}`.`region-${REGION}`.INFORMATION_SCHEMA.WRITE_API_TIMELINE_BY_PROJECT AS w
JOIN `${PROJECT}`.`${DATASET}`.INFORMATION_SCHEMA.TABLES AS t ON t.table_name = w.table_id
WHERE
  w.dataset_id = @dataset
  AND w.start_timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @days DAY)
  AND w.start_timestamp >= TIMESTAMP_TRUNC(IFNULL(t.upsert_stream_apply_watermark, TIMESTAMP '1970-01-01'), MINUTE)
  AND w.error_code = 'OK'
GROUP BY w.table_id
ORDER BY w.table_id
