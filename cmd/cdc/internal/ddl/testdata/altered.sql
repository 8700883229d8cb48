CREATE TABLE `demo.shop.orders` (
  `order_id` INT64 NOT NULL OPTIONS (description = "Counts from 1."),
  `status` STRING NOT NULL,
  `total` NUMERIC,
  `email` STRING NOT NULL OPTIONS (description = "old"),
  `tags` STRING,
  `placed_at` DATETIME,
  `only_here` STRING,
  `strict` BOOL NOT NULL,
  `address` STRUCT<`city` STRING NOT NULL, `zip` INT64>,
  `weight` BIGNUMERIC,
  `extra` JSON,
  `updated_at` TIMESTAMP OPTIONS (description = "Says \"when\"."),
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
CLUSTER BY `status`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);
