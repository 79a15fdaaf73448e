-- The database refuses a row that cannot be (decision 0028). Each rule is checked for new rows from here on, and for those
-- that are there by the next file.

-- Price times quantity of all lines, in kopiykas; NULL where one of them is missing or not positive. PL/pgSQL keeps the plan of the query, SQL
-- would make one for each row.
CREATE FUNCTION lines_total(lines jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN (
    SELECT CASE WHEN bool_and(coalesce("priceKopiykas" > 0 AND quantity > 0, false)) THEN sum("priceKopiykas" * quantity) END
    FROM jsonb_to_recordset(lines) AS line ("priceKopiykas" numeric, quantity numeric));
END $$;

ALTER TABLE orders
  ADD CONSTRAINT orders_total_of_lines CHECK (lines_total(lines) IS NOT DISTINCT FROM total_kopiykas) NOT VALID,
  ADD CONSTRAINT orders_currency CHECK (currency ~ '^[A-Z]{3}$') NOT VALID,
  ADD CONSTRAINT orders_state CHECK (state IN
    ('Started', 'StockReserved', 'PaymentCharged', 'Confirmed', 'Compensating', 'Cancelled')) NOT VALID,
  ADD CONSTRAINT orders_status_of_state CHECK (status IS NOT DISTINCT FROM
    CASE state WHEN 'Confirmed' THEN 'Confirmed' WHEN 'Compensating' THEN 'Cancelled' WHEN 'Cancelled' THEN 'Cancelled' END) NOT VALID,
  ADD CONSTRAINT orders_open_until_end CHECK (open = (state NOT IN ('Confirmed', 'Cancelled'))) NOT VALID,
  ADD CONSTRAINT orders_reason_of_cancelled CHECK ((reason IS NOT NULL) = (state IN ('Compensating', 'Cancelled'))) NOT VALID,
  ADD CONSTRAINT orders_decided_at CHECK ((decided_at IS NOT NULL) = (status IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT orders_pending_while_compensating CHECK ((pending <> '[]') = (state = 'Compensating')) NOT VALID,
  ADD CONSTRAINT orders_key_with_hash CHECK (idempotency_key IS NULL OR request_hash IS NOT NULL) NOT VALID;
