-- The database refuses a row that cannot be (decision 0028). Each rule is checked for new rows from here on, and for those
-- that are there by the next file. Key, amount and currency are those of the charge; the refund's key comes with the refund.
ALTER TABLE payments
  ADD CONSTRAINT payments_amount_positive CHECK (amount_kopiykas > 0) NOT VALID,
  ADD CONSTRAINT payments_currency CHECK (currency ~ '^[A-Z]{3}$') NOT VALID,
  ADD CONSTRAINT payments_state CHECK (state IN ('attempted', 'accepted', 'declined', 'refunded', 'voided')) NOT VALID,
  ADD CONSTRAINT payments_charge_complete CHECK (num_nulls(charge_key, amount_kopiykas, currency) IN (0, 3)) NOT VALID,
  ADD CONSTRAINT payments_charged_or_voided CHECK (charge_key IS NOT NULL OR state = 'voided') NOT VALID,
  ADD CONSTRAINT payments_refund_key CHECK ((refund_key IS NOT NULL) = (state IN ('refunded', 'voided'))) NOT VALID;
