-- For the deletion of old messages. Rows come in the order of this column, so that a block range index is a few pages and costs
-- an insertion next to nothing.
-- allow index: built within a second a million rows; shipping's messages wait in the queue meanwhile
CREATE INDEX IF NOT EXISTS inbox_received_at ON inbox USING brin (received_at);
