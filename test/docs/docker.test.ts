import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/docker.md');

it('the file of a password that docs/docker.md has its reader write is neither committed nor given to the engine', () => {
  const [, file = ''] = /SHOP_PASSWORD=.*> (\S+)$/m.exec(page) ?? [];
  expect(file).not.toBe('');
  expect(read('.gitignore').split('\n')).toContain(file);
  expect(read('.dockerignore').split('\n').slice(-3)).toContain(`**/${file}`);
});
