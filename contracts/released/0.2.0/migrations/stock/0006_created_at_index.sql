-- For the deletion of old reservations (decision 0050). The units of one that is deleted while it holds them leave initial_on_hand with
-- it: what was there at first and was not sold since is on hand or reserved.
-- allow index: built within a second a million rows; a large table gets it CONCURRENTLY by hand before
CREATE INDEX IF NOT EXISTS reservations_created_at ON reservations (created_at);
