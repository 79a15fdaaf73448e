-- Product 10 is the scarce one.
INSERT INTO inventory (product_id, on_hand, initial_on_hand)
SELECT id, units, units
FROM (SELECT id, CASE id WHEN 10 THEN 10 ELSE 1000000 END AS units FROM generate_series(1, 12) AS id) AS seed;
