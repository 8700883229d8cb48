-- 1 message can't be decoded: bad_json

-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop`;

-- demo.shop.customers, of public.customers
-- note: the messages don't type customer_id, name, email, born, registered_at, preferences: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.customers` (
  `customer_id` INT64,
  `name` STRING,
  `email` STRING,
  `vip` BOOL,
  `born` INT64,
  `registered_at` STRING,
  `preferences` STRING,
  PRIMARY KEY (`customer_id`) NOT ENFORCED
)
CLUSTER BY `customer_id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.orders, of public.orders
-- note: the messages don't type order_id, customer_id, status, total, delivery_date, tags, placed_at, updated_at: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.orders` (
  `order_id` INT64,
  `customer_id` INT64,
  `status` STRING,
  `total` STRING,
  `gift` BOOL,
  `delivery_date` INT64,
  `tags` JSON,
  `placed_at` STRING,
  `updated_at` INT64,
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
CLUSTER BY `order_id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.order_lines, of public.order_lines
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: unit_price, from: decimal, scale: 2}
CREATE TABLE `demo.shop.order_lines` (
  `order_id` INT64 NOT NULL,
  `line_no` INT64 NOT NULL,
  `sku` STRING NOT NULL,
  `quantity` INT64 NOT NULL,
  `unit_price` NUMERIC NOT NULL,
  `note` STRING,
  PRIMARY KEY (`order_id`, `line_no`) NOT ENFORCED
)
CLUSTER BY `order_id`, `line_no`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

