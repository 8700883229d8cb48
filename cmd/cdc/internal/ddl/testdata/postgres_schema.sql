-- dataset demo.shop
CREATE SCHEMA IF NOT EXISTS `demo.shop`;

-- demo.shop.days, of public.days
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: price, from: decimal, scale: 4}
--   - {name: at, from: micros}
CREATE TABLE `demo.shop.days` (
  `day` DATE NOT NULL,
  `price` NUMERIC NOT NULL,
  `at` DATETIME NOT NULL,
  `v` STRING,
  PRIMARY KEY (`day`, `price`, `at`) NOT ENFORCED
)
CLUSTER BY `day`, `price`, `at`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.docs, of public.docs
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: raw, from: base64}
CREATE TABLE `demo.shop.docs` (
  `id` INT64 NOT NULL,
  `qty` INT64,
  `doc` STRING,
  `raw` BYTES,
  `numbers` ARRAY<INT64>,
  PRIMARY KEY (`id`) NOT ENFORCED
)
CLUSTER BY `id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.items, of public.items
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: Price, from: decimal, scale: 2}
CREATE TABLE `demo.shop.items` (
  `id` INT64 NOT NULL,
  `op` STRING,
  `source` INT64,
  `Price` NUMERIC NOT NULL,
  `at` TIMESTAMP NOT NULL,
  `added` STRING,
  `ignored` INT64,
  PRIMARY KEY (`id`) NOT ENFORCED
)
CLUSTER BY `id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.pairs, of public.pairs
CREATE TABLE `demo.shop.pairs` (
  `tenant` STRING NOT NULL,
  `v` FLOAT64,
  `n` INT64 NOT NULL,
  PRIMARY KEY (`n`, `tenant`) NOT ENFORCED
)
CLUSTER BY `n`, `tenant`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

-- demo.shop.types, of public.types
-- note: column c_any has decimals of any size: what BIGNUMERIC can't hold (38 digits before and after the point) is its bad_values' affair; STRING holds all
-- note: if messages come without Debezium's schema, the rule's columns need
--   - {name: c_money, from: decimal, scale: 2}
--   - {name: c_numeric, from: decimal, scale: 9}
--   - {name: c_whole, from: decimal, scale: 0}
--   - {name: c_big, from: decimal, scale: 30}
--   - {name: c_bytea, from: base64}
--   - {name: c_bits, from: base64}
--   - {name: c_varbit, from: base64}
--   - {name: c_time, from: micros}
--   - {name: c_time3, from: millis}
--   - {name: c_timestamp, from: micros}
--   - {name: c_timestamp3, from: millis}
--   - {name: c_timestamp0, from: millis}
--   - {name: c_numerics, from: decimal, scale: 2}
--   - {name: c_byteas, from: base64}
CREATE TABLE `demo.shop.types` (
  `id` INT64 NOT NULL,
  `c_bool` BOOL,
  `c_int2` INT64,
  `c_int4` INT64,
  `c_int8` INT64,
  `c_real` FLOAT64,
  `c_double` FLOAT64,
  `c_money` BIGNUMERIC,
  `c_numeric` NUMERIC,
  `c_whole` BIGNUMERIC,
  `c_big` BIGNUMERIC,
  `c_any` BIGNUMERIC,
  `c_char` STRING,
  `c_varchar` STRING,
  `c_text` STRING,
  `c_citext` STRING,
  `c_bytea` BYTES,
  `c_bit1` BOOL,
  `c_bits` BYTES,
  `c_varbit` BYTES,
  `c_date` DATE,
  `c_time` TIME,
  `c_time3` TIME,
  `c_timetz` TIME,
  `c_timestamp` DATETIME,
  `c_timestamp3` DATETIME,
  `c_timestamp0` DATETIME,
  `c_timestamptz` TIMESTAMP,
  `c_interval` INTERVAL,
  `c_json` JSON,
  `c_jsonb` JSON,
  `c_hstore` JSON,
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
  `c_texts` ARRAY<STRING>,
  `c_ints` ARRAY<INT64>,
  `c_bools` ARRAY<BOOL>,
  `c_numerics` ARRAY<NUMERIC>,
  `c_doubles` ARRAY<FLOAT64>,
  `c_dates` ARRAY<DATE>,
  `c_stamps` ARRAY<TIMESTAMP>,
  `c_uuids` ARRAY<STRING>,
  `c_byteas` ARRAY<BYTES>,
  PRIMARY KEY (`id`) NOT ENFORCED
)
CLUSTER BY `id`
OPTIONS (
  max_staleness = INTERVAL 15 MINUTE
);

