-- The database refuses a row that cannot be (decision 0028). Each rule is checked for new rows from here on, and for those
-- that are there by the next file. `lines` is what was asked for; only a tombstone has none.
ALTER TABLE inventory
  ADD CONSTRAINT inventory_within_initial CHECK (on_hand <= initial_on_hand) NOT VALID;
ALTER TABLE reservations
  ADD CONSTRAINT reservations_state CHECK (state IN ('reserved', 'insufficient', 'released')) NOT VALID,
  ADD CONSTRAINT reservations_reserved_or_released CHECK (reserve_key IS NOT NULL OR state = 'released') NOT VALID,
  ADD CONSTRAINT reservations_short_products CHECK ((insufficient_product_ids <> '{}') = (state = 'insufficient')) NOT VALID,
  ADD CONSTRAINT reservations_released_at CHECK ((released_at IS NOT NULL) = (state = 'released')) NOT VALID,
  ADD CONSTRAINT reservations_release_key CHECK ((release_key IS NOT NULL) = (state = 'released')) NOT VALID,
  ADD CONSTRAINT reservations_lines CHECK (jsonb_typeof(lines) = 'array' AND (lines <> '[]') = (reserve_key IS NOT NULL)) NOT VALID;
