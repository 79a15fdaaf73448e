-- The messages that were processed: a delivery found here has no second effect.
CREATE TABLE inbox (
  message_id  uuid PRIMARY KEY,
  type        text NOT NULL,
  order_id    uuid NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now()
);

-- One shipment per order, whatever events it came from.
CREATE TABLE "Shipments" (
  "Id"        uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  "OrderId"   uuid NOT NULL UNIQUE,
  "Lines"     jsonb NOT NULL DEFAULT '[]',
  "CreatedAt" timestamptz NOT NULL DEFAULT now()
);
