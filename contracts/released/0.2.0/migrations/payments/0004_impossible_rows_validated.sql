ALTER TABLE payments
  VALIDATE CONSTRAINT payments_amount_positive,
  VALIDATE CONSTRAINT payments_currency,
  VALIDATE CONSTRAINT payments_state,
  VALIDATE CONSTRAINT payments_charge_complete,
  VALIDATE CONSTRAINT payments_charged_or_voided,
  VALIDATE CONSTRAINT payments_refund_key;
