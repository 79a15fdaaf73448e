-- For the deletion of old shipments and messages (decision 0050). Not block range indexes, as the inbox had one: a page that was emptied
-- takes new rows, and its range would begin with the deleted ones for ever.
DROP INDEX IF EXISTS inbox_received_at;
-- allow index: built within a second a million rows; a large table gets it CONCURRENTLY by hand before
CREATE INDEX IF NOT EXISTS inbox_received ON inbox (received_at);
-- allow index: as above
CREATE INDEX IF NOT EXISTS shipments_created_at ON "Shipments" ("CreatedAt");
