import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastWrittenAt } from './log-reader.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-logs-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A log that was written to at this second. */
async function aLog(name: string, text: string, second: number): Promise<void> {
  await writeFile(join(folder, name), text);
  await utimes(join(folder, name), second, second);
}

describe('when an instance wrote to its log last', () => {
  it('is by the clock of this machine, whatever its lines say', async () => {
    await aLog('shipping-1.log', '{"time":"2001-01-01T00:00:00Z","msg":"shipped"}\n', 1_700_000_000);
    expect(await lastWrittenAt(folder, 'shipping-1')).toEqual(new Date(1_700_000_000_000));
  });

  it('is of the older part where its log was rotated since', async () => {
    await aLog('shipping-1.log.1', 'shipped\n', 1_700_000_000);
    await aLog('shipping-1.log', '', 1_700_000_060);
    expect(await lastWrittenAt(folder, 'shipping-1')).toEqual(new Date(1_700_000_000_000));
  });

  it('is unknown without a log', async () => {
    expect(await lastWrittenAt(folder, 'shipping-2')).toBeUndefined();
  });
});
