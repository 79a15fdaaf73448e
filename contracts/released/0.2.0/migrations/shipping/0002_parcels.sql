-- What left the house: a row for each parcel (decision 0040). No key is unique, so that a second parcel of an order shows; the
-- statement that makes the shipment appends it, so that a lost race appends nothing.
CREATE TABLE parcels (
  order_id   uuid NOT NULL,
  lines      jsonb NOT NULL CONSTRAINT parcels_lines CHECK (jsonb_typeof(lines) = 'array'),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX parcels_order ON parcels (order_id);

-- Append-only: the service may add and read.
REVOKE UPDATE, DELETE ON parcels FROM shipping;

-- What shipments of before tell of theirs.
INSERT INTO parcels (order_id, lines, created_at) SELECT "OrderId", "Lines", "CreatedAt" FROM "Shipments";
