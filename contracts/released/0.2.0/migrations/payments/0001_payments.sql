-- One row per order. `attempted` is a charge whose outcome was not recorded yet; `voided` refuses every charge to come,
-- and has no amount when the order was voided before it was ever charged.
CREATE TABLE payments (
  order_id        uuid PRIMARY KEY,
  charge_key      text UNIQUE,
  refund_key      text UNIQUE,
  amount_kopiykas bigint CHECK (amount_kopiykas > 0),
  currency        text CHECK (currency ~ '^[A-Z]{3}$'),
  state           text NOT NULL CHECK (state IN ('attempted', 'accepted', 'declined', 'refunded', 'voided')),
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CHECK ((charge_key IS NULL) = (amount_kopiykas IS NULL)),
  CHECK ((charge_key IS NULL) = (currency IS NULL)),
  CHECK (charge_key IS NOT NULL OR state = 'voided')
) WITH (fillfactor = 60);
