-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop` OPTIONS (location = "EU");

-- demo.shop.orders, of public.orders
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: total, from: decimal, scale: 2}
CREATE TABLE `demo.shop.orders` (
  `order_id` INT64 NOT NULL OPTIONS (description = "Counts from 1."),
  `status` STRING,
  `total` NUMERIC,
  `weight` STRING OPTIONS (description = "As text."),
  `email` STRING,
  `tags` ARRAY<STRING>,
  `placed_at` DATETIME,
  `updated_at` TIMESTAMP OPTIONS (description = "Says \"when\"."),
  `committed_at` TIMESTAMP,
  `changed_by` STRING,
  `is_deleted` BOOL OPTIONS (description = "Whether the row was deleted at its source."),
  `deleted_at` TIMESTAMP OPTIONS (description = "When the row was deleted at its source."),
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
CLUSTER BY `order_id`;

