CREATE TABLE `example.com:demo.shop.group` (
  `current` DATE NOT NULL,
  `interval` INTERVAL,
  `naïve 列` JSON,
  `\`; DROP TABLE shop.orders; --` GEOGRAPHY OPTIONS (description = "\"; DROP TABLE shop.orders; --\\\n\u0000\t\u2028�"),
  PRIMARY KEY (`current`) NOT ENFORCED
)
PARTITION BY `CURRENT`
OPTIONS (
  description = "\\\""
);
