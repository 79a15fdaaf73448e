-- An order of nothing but free products could not be charged: payments takes 1 kopiyka or more.
ALTER TABLE products ADD CONSTRAINT products_price_positive CHECK (price_kopiykas > 0) NOT VALID;
