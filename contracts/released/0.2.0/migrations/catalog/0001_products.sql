-- Money is in kopiykas (hundredths of a hryvnia), so that sums are exact.
CREATE TABLE products (
  id             integer PRIMARY KEY,
  name           text NOT NULL CHECK (name <> ''),
  price_kopiykas bigint NOT NULL CHECK (price_kopiykas >= 0),
  currency       text NOT NULL CHECK (currency ~ '^[A-Z]{3}$')
);
