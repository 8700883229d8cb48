-- demo.shop.orders, of public.orders
-- note: column weight has decimals of any size: what BIGNUMERIC can't hold (38 digits before and after the point) is its bad_values' affair; STRING holds all
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: total, from: decimal, scale: 2}
--   - {name: placed_at, from: micros}
-- left to do: column tags is of type STRING, and should be of type ARRAY<STRING>: BigQuery can't change the one into the other. Let the rule say STRING if that holds the values; else make a table with the right type and take a snapshot into it
-- left to do: it is clustered by status, and should be clustered by order_id, status, which no statement alters: bq update --clustering_fields=order_id,status 'demo:shop.orders'
-- left to do: it is not partitioned by time, and should be partitioned by TIMESTAMP_TRUNC(`updated_at`, MONTH), which BigQuery does only when it creates a table: make a table and take a snapshot into it
-- left to do: column strict is REQUIRED, and the source has no such column, so that no row can be written: ALTER TABLE … ALTER COLUMN strict DROP NOT NULL, if nothing else fills it
ALTER TABLE `demo.shop.orders`
  ADD COLUMN `weight` BIGNUMERIC,
  ADD COLUMN `extra` JSON,
  ADD COLUMN `updated_at` TIMESTAMP OPTIONS (description = "Says \"when\".");
ALTER TABLE `demo.shop.orders`
  ALTER COLUMN `status` SET DATA TYPE STRING;
ALTER TABLE `demo.shop.orders`
  ALTER COLUMN `total` SET DATA TYPE NUMERIC;
ALTER TABLE `demo.shop.orders`
  ALTER COLUMN `address` SET DATA TYPE STRUCT<`city` STRING NOT NULL, `zip` INT64>;
ALTER TABLE `demo.shop.orders`
  ALTER COLUMN `order_id` SET OPTIONS (description = "Counts from 1.");
ALTER TABLE `demo.shop.orders`
  SET OPTIONS (max_staleness = INTERVAL 15 MINUTE);
ALTER TABLE `demo.shop.orders`
  ADD PRIMARY KEY (`order_id`) NOT ENFORCED;

