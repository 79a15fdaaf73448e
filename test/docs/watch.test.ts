import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { drawScreen } from '../../cli/src/watch/testing/draw.ts';
import { aModel } from '../../cli/src/watch/testing/models.ts';

const file = new URL('../../docs/watch.md', import.meta.url);

/** The page with the screen as it is drawn now. */
function withScreen(page: string): string {
  const lines = drawScreen(aModel()).map((line) => line.trimEnd());
  const block = `<!-- screen -->\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n\n<!-- /screen -->`;
  return page.replace(/<!-- screen -->[\s\S]*<!-- \/screen -->/, () => block);
}

// `UPDATE_DOCS=1 vitest run --project units test/docs/watch.test.ts` writes the screen.
if (process.env.UPDATE_DOCS === '1') writeFileSync(file, withScreen(readFileSync(file, 'utf8')));

it('docs/watch.md shows the screen as it is drawn (UPDATE_DOCS=1 writes it)', () => {
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('OUTBOX 216, rising');
  expect(page).toBe(withScreen(page));
});
