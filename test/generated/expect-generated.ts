import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Compares a committed file with the text that the code makes of it. `npm run generate` writes the file. */
export function expectGenerated(path: string, text: string): Promise<void> {
  return expect(text).toMatchFileSnapshot(join(root, path));
}

/**
 * Compares a committed page with itself after its blocks were replaced: `blocks` holds the text between `<!-- name -->`
 * and `<!-- /name -->` for each name. Throws when the page lacks a block.
 */
export function expectGeneratedBlocks(path: string, blocks: Readonly<Record<string, string>>): Promise<void> {
  let page = readFileSync(join(root, path), 'utf8');
  for (const [name, text] of Object.entries(blocks)) {
    const block = new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`);
    if (!block.test(page)) throw new Error(`${path} has no block "<!-- ${name} --> <!-- /${name} -->"`);
    page = page.replace(block, () => `<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->`);
  }
  return expectGenerated(path, page);
}
