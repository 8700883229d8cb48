-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop`;

-- demo.shop.customers, of public.customers
CREATE TABLE `demo.shop.customers` (
  `customer_id` INT64 NOT NULL,
  `name` STRING,
  `email` STRING,
  `vip` BOOL,
  `born` DATE,
  `registered_at` TIMESTAMP,
  `preferences` JSON,
  PRIMARY KEY (`customer_id`) NOT ENFORCED
)
CLUSTER BY `customer_id`;

-- demo.shop.orders, of public.orders
CREATE TABLE `demo.shop.orders` (
  `order_id` INT64 NOT NULL,
  `customer_id` INT64,
  `status` STRING,
  `total` NUMERIC(12, 2),
  `gift` BOOL,
  `delivery_date` DATE,
  `tags` ARRAY<STRING>,
  `placed_at` TIMESTAMP,
  `updated_at` TIMESTAMP,
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
CLUSTER BY `order_id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.order_lines, of public.order_lines
CREATE TABLE `demo.shop.order_lines` (
  `order_id` INT64 NOT NULL,
  `line_no` INT64 NOT NULL,
  `sku` STRING,
  `quantity` INT64,
  `unit_price` NUMERIC(10, 2),
  `note` STRING,
  PRIMARY KEY (`order_id`, `line_no`) NOT ENFORCED
)
CLUSTER BY `order_id`, `line_no`;

