import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(`${root}docs/troubleshooting.md`, 'utf8');
const messages = [...new Set([...page.matchAll(/"([^"]+)"/g)].map(([, text = '']) => text))];
const sources = globSync('cli/src/**/*.ts', { cwd: root })
  .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
  .map((path) => readFileSync(`${root}${path}`, 'utf8'))
  .join('\n');

it.each(messages)('docs/troubleshooting.md quotes a message that exists: %s', (message) => {
  const parts = message.split('...').map((part) => part.trim());
  for (const part of parts.filter((one) => one.length > 1)) expect(sources.includes(part), part).toBe(true);
});
