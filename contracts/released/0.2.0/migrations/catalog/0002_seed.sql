-- Product 11 costs exactly the payment limit of 50,000 UAH; 12 alone is above it.
INSERT INTO products (id, name, price_kopiykas, currency) VALUES
  (1,  'Embroidered linen towel',           45000,   'UAH'),
  (2,  'Carpathian herbal tea, 100 g',      18500,   'UAH'),
  (3,  'Acacia honey, 500 g',               26000,   'UAH'),
  (4,  'Handmade clay mug',                 38000,   'UAH'),
  (5,  'Petrykivka painted tray',           125000,  'UAH'),
  (6,  'Hutsul wool blanket',               289000,  'UAH'),
  (7,  'Oak cutting board',                 92000,   'UAH'),
  (8,  'Embroidered shirt, linen',          340000,  'UAH'),
  (9,  'Leather satchel',                   475000,  'UAH'),
  (10, 'Numbered Kosiv ceramic vase',       860000,  'UAH'),
  (11, 'Concert bandura',                   5000000, 'UAH'),
  (12, 'Carved walnut wardrobe',            7250000, 'UAH');
