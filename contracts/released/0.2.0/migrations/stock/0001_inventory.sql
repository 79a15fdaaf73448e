-- initial_on_hand never changes: on_hand plus what is reserved must always give it.
-- Updates touch no indexed column; the fill factor leaves them room on their page.
CREATE TABLE inventory (
  product_id      integer PRIMARY KEY,
  on_hand         integer NOT NULL CHECK (on_hand >= 0),
  initial_on_hand integer NOT NULL CHECK (initial_on_hand >= on_hand)
) WITH (fillfactor = 30);

-- One row per order: what it took, that it could take nothing, or that it was released (also before it was reserved).
-- `lines` is what was taken, [{productId, quantity}] with each product once; empty for an insufficient or unreserved one.
CREATE TABLE reservations (
  order_id                 uuid PRIMARY KEY,
  reserve_key              text UNIQUE,
  release_key              text UNIQUE,
  state                    text NOT NULL CHECK (state IN ('reserved', 'insufficient', 'released')),
  lines                    jsonb NOT NULL DEFAULT '[]',
  insufficient_product_ids integer[] NOT NULL DEFAULT '{}',
  created_at               timestamptz NOT NULL DEFAULT now(),
  released_at              timestamptz,
  CHECK (reserve_key IS NOT NULL OR state = 'released'),
  CHECK ((state = 'insufficient') = (insufficient_product_ids <> '{}')),
  CHECK ((state = 'released') = (released_at IS NOT NULL))
) WITH (fillfactor = 80);
