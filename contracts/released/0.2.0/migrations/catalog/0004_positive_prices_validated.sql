ALTER TABLE products VALIDATE CONSTRAINT products_price_positive;
