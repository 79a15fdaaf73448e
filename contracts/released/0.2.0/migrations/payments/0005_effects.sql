-- What was done to customers' money: a row for each charge and each refund that took effect (decision 0040). No key is unique,
-- so that a second effect shows; the statement that decides an effect appends it, so that a lost race appends nothing.
CREATE TABLE payment_effects (
  seq             bigint GENERATED ALWAYS AS IDENTITY,
  order_id        uuid NOT NULL,
  kind            text NOT NULL CONSTRAINT payment_effects_kind CHECK (kind IN ('charge', 'refund')),
  amount_kopiykas bigint NOT NULL CONSTRAINT payment_effects_amount_positive CHECK (amount_kopiykas > 0),
  currency        text NOT NULL CONSTRAINT payment_effects_currency CHECK (currency ~ '^[A-Z]{3}$'),
  created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX payment_effects_order ON payment_effects (order_id);

-- Append-only: the service may add and read.
REVOKE UPDATE, DELETE ON payment_effects FROM payments;

-- What payments of before tell of theirs.
INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency, created_at)
SELECT order_id, 'charge', amount_kopiykas, currency, created_at FROM payments WHERE state IN ('accepted', 'refunded');
INSERT INTO payment_effects (order_id, kind, amount_kopiykas, currency, created_at)
SELECT order_id, 'refund', amount_kopiykas, currency, updated_at FROM payments WHERE state = 'refunded';
