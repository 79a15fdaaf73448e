-- Every price a product has had (decision 0041): an order is compared with the price that was valid when it was placed.
CREATE TABLE product_prices (
  product_id     integer NOT NULL,
  price_kopiykas bigint NOT NULL,
  currency       text NOT NULL,
  valid_from     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX product_prices_product ON product_prices (product_id, valid_from);

-- Whoever changes a price leaves a row here; nobody takes one away.
REVOKE UPDATE, DELETE ON product_prices FROM catalog;

CREATE FUNCTION record_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO product_prices (product_id, price_kopiykas, currency) VALUES (NEW.id, NEW.price_kopiykas, NEW.currency);
  RETURN NULL;
END $$;

-- allow trigger: it adds a row without a constraint that could refuse it; no service writes products
CREATE TRIGGER products_price AFTER INSERT OR UPDATE OF price_kopiykas, currency ON products
  FOR EACH ROW EXECUTE FUNCTION record_price();

-- What products cost until now, nobody knows since when.
INSERT INTO product_prices (product_id, price_kopiykas, currency, valid_from)
SELECT id, price_kopiykas, currency, '-infinity' FROM products;
