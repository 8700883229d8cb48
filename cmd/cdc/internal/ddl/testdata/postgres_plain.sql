-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop`;

-- demo.shop.days, of public.days
-- note: the messages don't type day, price, at, v: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.days` (
  `day` INT64,
  `price` STRING,
  `at` INT64,
  `v` STRING,
  PRIMARY KEY (`day`, `price`, `at`) NOT ENFORCED
)
CLUSTER BY `day`, `price`, `at`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.docs, of public.docs
-- note: the messages don't type id, qty, doc, raw, numbers: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.docs` (
  `id` INT64,
  `qty` INT64,
  `doc` STRING,
  `raw` STRING,
  `numbers` JSON,
  PRIMARY KEY (`id`) NOT ENFORCED
)
CLUSTER BY `id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.items, of public.items
-- note: the messages don't type id, op, source, Price, at, added, ignored: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.items` (
  `id` INT64,
  `op` STRING,
  `source` INT64,
  `Price` STRING,
  `at` STRING,
  `added` STRING,
  `ignored` INT64,
  PRIMARY KEY (`id`) NOT ENFORCED
)
CLUSTER BY `id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.pairs, of public.pairs
-- note: column v: bad_value: its type is what the other messages told
-- note: column v has values of several types, BIGNUMERIC and FLOAT64 among them: the latter go to a column v_float64 with unknown_columns: add, and are bad values else
-- note: the messages don't type tenant, v, n: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.pairs` (
  `tenant` STRING,
  `v` BIGNUMERIC,
  `n` INT64,
  `v_float64` FLOAT64 OPTIONS (description = "What column v can't hold, by beamcdc."),
  PRIMARY KEY (`n`, `tenant`) NOT ENFORCED
)
CLUSTER BY `n`, `tenant`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.types, of public.types
-- note: the messages don't type id, c_int2, c_int4, c_int8, c_real, c_double, c_money, c_numeric, c_whole, c_big, c_any, c_varchar, c_text, c_citext, c_bytea, c_bits, c_varbit, c_date, c_time, c_time3, and 35 more: which of the numbers and texts are dates, times or decimals the rule's columns have to say; -source or -schema tells
CREATE TABLE `demo.shop.types` (
  `id` INT64,
  `c_bool` BOOL,
  `c_int2` INT64,
  `c_int4` INT64,
  `c_int8` INT64,
  `c_real` STRING,
  `c_double` NUMERIC,
  `c_money` STRING,
  `c_numeric` STRING,
  `c_whole` STRING,
  `c_big` STRING,
  `c_any` JSON,
  `c_varchar` STRING,
  `c_text` STRING,
  `c_citext` STRING,
  `c_bytea` STRING,
  `c_bit1` BOOL,
  `c_bits` STRING,
  `c_varbit` STRING,
  `c_date` INT64,
  `c_time` INT64,
  `c_time3` INT64,
  `c_timestamp` INT64,
  `c_timestamp3` INT64,
  `c_timestamp0` INT64,
  `c_timestamptz` STRING,
  `c_interval` STRING,
  `c_json` STRING,
  `c_jsonb` STRING,
  `c_hstore` STRING,
  `c_uuid` STRING,
  `c_xml` STRING,
  `c_inet` STRING,
  `c_cidr` STRING,
  `c_macaddr` STRING,
  `c_ltree` STRING,
  `c_tsvector` STRING,
  `c_int4range` STRING,
  `c_numrange` STRING,
  `c_daterange` STRING,
  `c_tsrange` STRING,
  `c_tstzrange` STRING,
  `c_enum` STRING,
  `c_domain` INT64,
  `c_oid` INT64,
  `c_point` JSON,
  `c_texts` JSON,
  `c_ints` JSON,
  `c_bools` JSON,
  `c_numerics` JSON,
  `c_doubles` JSON,
  `c_dates` JSON,
  `c_stamps` JSON,
  `c_uuids` JSON,
  `c_byteas` JSON,
  `c_char` STRING,
  `c_timetz` STRING,
  PRIMARY KEY (`id`) NOT ENFORCED
)
CLUSTER BY `id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

