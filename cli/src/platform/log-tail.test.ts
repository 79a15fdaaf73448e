import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastMessages } from './log-tail.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-tail-'));
  file = join(folder, 'orders-1.log');
});
afterEach(() => rm(folder, { recursive: true }));

const line = (second: number, fields: object) =>
  JSON.stringify({ level: 'info', time: `2026-11-24T09:00:0${second}.000Z`, service: 'orders', ...fields });
const store = (...lines: string[]) => writeFile(file, lines.map((one) => `${one}\n`).join(''));

describe('the last messages of a log', () => {
  it('are what its lines say, without time, names and stacks', async () => {
    await store(
      line(2, { level: 'warn', msg: 'the broker is not reachable yet', reason: 'ECONNREFUSED' }),
      line(3, {
        level: 'fatal',
        msg: 'cannot start',
        err: { type: 'Error', message: 'no DATABASE_URL', stack: 'at ...' },
      }),
    );
    expect(await lastMessages(file, 4)).toEqual([
      'warn: the broker is not reachable yet: ECONNREFUSED',
      'fatal: cannot start: no DATABASE_URL',
    ]);
  });

  it('are one each, however many starts said them, without what is routine', async () => {
    const start = (second: number) => [
      line(second, { msg: 'started' }),
      line(second, { level: 'warn', msg: 'an old setting' }),
      line(second, { level: 'error', msg: 'the configuration is not valid' }),
    ];
    await store(line(0, { msg: 'before' }), ...[1, 2, 3, 4, 5].flatMap(start));
    expect(await lastMessages(file, 3)).toEqual(['warn: an old setting', 'error: the configuration is not valid']);
    expect(await lastMessages(file, 1)).toEqual(['error: the configuration is not valid']);
  });

  it('are what is routine where there is nothing else', async () => {
    await store(line(1, { msg: 'started' }), line(2, { level: 'debug', msg: 'connected' }));
    expect(await lastMessages(file, 4)).toEqual(['started', 'connected']);
  });

  it('are the lines themselves where these are of another program', async () => {
    await store('Error: Cannot find module', '    at node:internal', '17');
    expect(await lastMessages(file, 4)).toEqual(['Error: Cannot find module', '    at node:internal', '17']);
  });

  it('are none without a log', async () => {
    expect(await lastMessages(join(folder, 'none.log'), 4)).toEqual([]);
  });
});
