-- For the deletion of old payments (decision 0050). Not a block range index: a page that was emptied takes new rows, and its range would
-- begin with the deleted ones for ever. No statement changes the column, so that updates stay heap-only.
-- allow index: built within a second a million rows; a large table gets it CONCURRENTLY by hand before
CREATE INDEX IF NOT EXISTS payments_created_at ON payments (created_at);
