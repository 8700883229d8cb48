-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop`;

-- demo.shop.orders, of public.orders: a view over one table after the other
-- note: column weight has decimals of any size: what BIGNUMERIC can't hold (38 digits before and after the point) is its bad_values' affair; STRING holds all
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: total, from: decimal, scale: 2}
--   - {name: placed_at, from: micros}
CREATE TABLE `demo.shop.orders_g0` (
  `order_id` INT64 NOT NULL OPTIONS (description = "Counts from 1."),
  `status` STRING,
  `total` NUMERIC,
  `weight` BIGNUMERIC,
  `email` STRING,
  `extra` JSON,
  `tags` ARRAY<STRING>,
  `placed_at` DATETIME,
  `updated_at` TIMESTAMP OPTIONS (description = "Says \"when\"."),
  `address` STRUCT<`city` STRING NOT NULL, `zip` INT64>,
  `beamcdc_sequence` STRING OPTIONS (description = "Of which change the row is; the pipeline reads it."),
  `beamcdc_deleted` BOOL OPTIONS (description = "Whether the row was deleted at its source, and is hidden."),
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
CLUSTER BY `order_id`;
CREATE VIEW IF NOT EXISTS `demo.shop.orders` AS
SELECT * EXCEPT (beamcdc_sequence, beamcdc_deleted) FROM `demo.shop.orders_g0` WHERE beamcdc_deleted IS NOT TRUE;

-- demo.shop.lines, of public.lines
-- error: table demo.shop.lines: its rule has no columns, and what was given has no table that "public.lines" is for

