-- The tables of a dataset that take changes by primary key: when BigQuery last applied
-- their changes, how long ago that was, and the staleness that each allows its readers.
--
-- The watermark is NULL until a first apply. Of a table to which nothing is written the
-- lag may grow without harm: pending_rows.sql tells whether anything waits.
SELECT
  t.table_name,
  t.upsert_stream_apply_watermark AS watermark,
  TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), t.upsert_stream_apply_watermark, MILLISECOND) / 1000 AS watermark_lag_in_seconds,
  o.option_value AS max_staleness  -- such as 0-0 0 0:15:0; NULL: every query applies what is pending
FROM `${PROJECT}`.`${DATASET}`.INFORMATION_SCHEMA.TABLES AS t
JOIN `${PROJECT}`.`${DATASET}`.INFORMATION_SCHEMA.TABLE_CONSTRAINTS AS k
  ON k.table_name = t.table_name AND k.constraint_type = 'PRIMARY KEY'
LEFT JOIN `${PROJECT}`.`${DATASET}`.INFORMATION_SCHEMA.TABLE_OPTIONS AS o
  ON o.table_name = t.table_name AND o.option_name = 'max_staleness'
ORDER BY t.table_name
