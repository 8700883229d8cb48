CREATE TABLE `demo.shop.order_lines` (
  `order_id` INT64,
  `line_no` INT64,
  PRIMARY KEY (`line_no`, `order_id`) NOT ENFORCED
)
CLUSTER BY `order_id`, `line_no`
OPTIONS (
  max_staleness = INTERVAL 90 SECOND
);
