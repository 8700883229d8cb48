CREATE TABLE `demo.shop.history` (
  `change_id` STRING
)
OPTIONS (
  max_staleness = INTERVAL 2 HOUR
);
