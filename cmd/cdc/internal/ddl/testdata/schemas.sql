-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop`;

-- demo.shop.orders, of public.orders
-- note: column weight has decimals of any size: what BIGNUMERIC can't hold (38 digits before and after the point) is its bad_values' affair; STRING holds all
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: total, from: decimal, scale: 2}
--   - {name: placed_at, from: micros}
CREATE TABLE `demo.shop.orders` (
  `order_id` INT64 NOT NULL OPTIONS (description = "Counts from 1."),
  `status` STRING NOT NULL,
  `total` NUMERIC NOT NULL,
  `weight` BIGNUMERIC,
  `email` STRING NOT NULL,
  `extra` JSON,
  `tags` ARRAY<STRING>,
  `placed_at` DATETIME,
  `updated_at` TIMESTAMP NOT NULL OPTIONS (description = "Says \"when\"."),
  `address` STRUCT<`city` STRING NOT NULL, `zip` INT64>,
  PRIMARY KEY (`order_id`) NOT ENFORCED
)
PARTITION BY TIMESTAMP_TRUNC(`updated_at`, MONTH)
CLUSTER BY `order_id`, `status`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.orders_history, a history
CREATE TABLE `demo.shop.orders_history` (
  `change_id` STRING NOT NULL OPTIONS (description = "the same whenever the change is delivered"),
  `operation` STRING NOT NULL OPTIONS (description = "what the source did: create, update, delete, snapshot or truncate"),
  `change_type` STRING OPTIONS (description = "what it did to the row of this key: UPSERT or DELETE; NULL for truncate"),
  `sequence` STRING OPTIONS (description = "_CHANGE_SEQUENCE_NUMBER, each section padded to 16 digits: its texts sort as the changes do"),
  `commit_time` TIMESTAMP OPTIONS (description = "when the source committed it; NULL if it doesn't say"),
  `publish_time` TIMESTAMP OPTIONS (description = "when Pub/Sub took the message"),
  `message_id` STRING OPTIONS (description = "Pub/Sub's ID of the message"),
  `source_table` STRING OPTIONS (description = "the source's name of the table"),
  `position` STRING OPTIONS (description = "the source's own position, for people"),
  `key` STRING OPTIONS (description = "the primary key as a JSON object; NULL for truncate"),
  `before` JSON OPTIONS (description = "the row before the change, as far as the source tells"),
  `after` JSON OPTIONS (description = "the row after the change; NULL for a DELETE")
)
PARTITION BY TIMESTAMP_TRUNC(`commit_time`, DAY)
CLUSTER BY `key`
OPTIONS (
  description = "Every change of a table, appended by beamcdc; a change may be there more than once, see orders_history_distinct"
);
CREATE VIEW IF NOT EXISTS `demo.shop.orders_history_distinct` OPTIONS (description = "The changes of orders_history, each once.") AS
SELECT *
FROM `demo.shop.orders_history`
WHERE TRUE
QUALIFY ROW_NUMBER() OVER (PARTITION BY change_id ORDER BY publish_time, message_id) = 1;

-- dataset demo.ops
CREATE SCHEMA IF NOT EXISTS `demo.ops`;

-- demo.ops.letters, dead letters
CREATE TABLE `demo.ops.letters` (
  `id` STRING NOT NULL OPTIONS (description = "message ID, stage, and a number that tells the message's letters apart"),
  `piece` INT64 NOT NULL OPTIONS (description = "which piece of the data this row holds, from 1"),
  `pieces` INT64 OPTIONS (description = "how many pieces the data is in"),
  `stage` STRING OPTIONS (description = "where the message could not be processed"),
  `reason` STRING OPTIONS (description = "why, as a word"),
  `error` STRING OPTIONS (description = "why, as a text"),
  `source_table` STRING OPTIONS (description = "the source's name of the table"),
  `message_id` STRING OPTIONS (description = "Pub/Sub's message ID"),
  `part` INT64 OPTIONS (description = "which of the message's changes it is, from 0"),
  `publish_time` TIMESTAMP OPTIONS (description = "when Pub/Sub took the message"),
  `failed_at` TIMESTAMP OPTIONS (description = "when the letter was made, last"),
  `ordering_key` STRING OPTIONS (description = "the message's ordering key"),
  `attributes` JSON OPTIONS (description = "the message's attributes"),
  `data` BYTES OPTIONS (description = "the message's data as it was published, or this piece of it"),
  PRIMARY KEY (`id`, `piece`) NOT ENFORCED
)
CLUSTER BY `id`;

