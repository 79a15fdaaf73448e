import pg from 'pg';
import { expect, it } from 'vitest';
import { quoted } from './quoted.ts';

it.each(['orders', 'Shipments', 'a "quoted" name', '"', '""', ''])('%j is quoted as the driver does it', (name) => {
  expect(quoted(name)).toBe(pg.escapeIdentifier(name));
});
