-- An order and its saga are one row: a state change is one statement on one row. No state change but the last touches
-- an indexed column or an index's predicate, so the others are heap-only updates; the fill factor leaves them room.
CREATE TABLE orders (
  id              uuid PRIMARY KEY,
  customer        text NOT NULL,
  lines           jsonb NOT NULL,
  total_kopiykas  bigint NOT NULL CHECK (total_kopiykas >= 0),
  currency        text NOT NULL,
  status          text CHECK (status IN ('Confirmed', 'Cancelled')),
  reason          text,
  state           text NOT NULL CHECK (state IN
                    ('Started', 'StockReserved', 'PaymentCharged', 'Confirmed', 'Compensating', 'Cancelled')),
  open            boolean NOT NULL DEFAULT true,
  version         integer NOT NULL DEFAULT 1,
  owner           uuid NOT NULL,
  pending         jsonb NOT NULL DEFAULT '[]',
  attempts        integer NOT NULL DEFAULT 0,
  last_error      text,
  next_attempt_at timestamptz,
  trace_parent    text,
  idempotency_key text UNIQUE,
  request_hash    text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  decided_at      timestamptz,
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CHECK (open = (state NOT IN ('Confirmed', 'Cancelled'))),
  CHECK ((status IS NOT NULL) = (state IN ('Confirmed', 'Compensating', 'Cancelled'))),
  CHECK ((reason IS NOT NULL) = (status IS NOT NULL AND status = 'Cancelled'))
) WITH (fillfactor = 50);

CREATE INDEX orders_open ON orders (id) WHERE open;
CREATE INDEX orders_created_at ON orders (created_at);

-- One row per running instance of the service, renewed every second. A saga whose owner's lease has passed is adopted.
CREATE TABLE saga_owners (
  id          uuid PRIMARY KEY,
  instance    text NOT NULL,
  lease_until timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE outbox (
  id            uuid PRIMARY KEY,
  seq           bigint GENERATED ALWAYS AS IDENTITY,
  order_id      uuid NOT NULL,
  type          text NOT NULL,
  payload       jsonb NOT NULL,
  "TraceParent" text,
  created_at    timestamptz NOT NULL DEFAULT now(),
  published_at  timestamptz,
  UNIQUE (order_id, type)
) WITH (fillfactor = 70);

CREATE INDEX outbox_unpublished ON outbox (seq) WHERE published_at IS NULL;
CREATE INDEX outbox_published_at ON outbox (published_at);
