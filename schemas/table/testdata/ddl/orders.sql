CREATE TABLE `demo.shop.orders` (
  `order_id` INT64 NOT NULL,
  `status` STRING(20) OPTIONS (description = "one of \"placed\", 'shipped'"),
  `total` NUMERIC(12, 2),
  `weight` BIGNUMERIC(40),
  `address` STRUCT<`city` STRING NOT NULL OPTIONS (description = "a city"), `lines` ARRAY<STRING>>,
  `tags` ARRAY<STRING>,
  `valid` RANGE<DATE>,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
PARTITION BY TIMESTAMP_TRUNC(`updated_at`, DAY)
CLUSTER BY `order_id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE,
  description = "The shop's orders.\nKept by a pipeline."
);
