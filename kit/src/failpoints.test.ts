import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createFailpoints,
  type Failpoint,
  ForcedResponseError,
  parseArmedFailpoint,
  ReplyDroppedError,
} from './failpoints.ts';
import { TransientError } from './failures.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shop-failpoints-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const arm = (name: string, text: string) => writeFileSync(join(folder, name), text);
const armed = () =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
const count = (kind: 'hits' | 'acted', name: string) =>
  statSync(join(folder, kind, name), { throwIfNoEntry: false })?.size ?? 0;

/** Which of so many hits acted, from 1. */
async function actsOf(hits: number, pass: Failpoint<'orders'>): Promise<number[]> {
  const acts: number[] = [];
  for (let hit = 1; hit <= hits; hit += 1) await pass('stock-reserved:unsaved').catch(() => acts.push(hit));
  return acts;
}

describe('a failpoint that is not armed', () => {
  it('does nothing, and counts every hit', async () => {
    const pass = createFailpoints('orders', folder);
    await pass('stock-reserved:unsaved');
    await pass('stock-reserved:unsaved');
    expect(count('hits', 'orders.stock-reserved:unsaved')).toBe(2);
    expect(count('acted', 'orders.stock-reserved:unsaved')).toBe(0);
  });

  it('goes on counting after the counts were reset', async () => {
    const pass = createFailpoints('orders', folder);
    await pass('stock-reserved:unsaved');
    writeFileSync(join(folder, 'hits', 'orders.stock-reserved:unsaved'), '');
    await pass('stock-reserved:unsaved');
    expect(count('hits', 'orders.stock-reserved:unsaved')).toBe(1);
  });

  it('touches no file when failpoints are not enabled', async () => {
    arm('orders.stock-reserved:unsaved', 'error');
    await createFailpoints('orders', undefined)('stock-reserved:unsaved');
    expect(readdirSync(folder)).toEqual(['orders.stock-reserved:unsaved']);
  });
});

describe('an armed failpoint', () => {
  it('acts on its next hit, once, and is disarmed before it acts', async () => {
    arm('orders.stock-reserved:unsaved', 'error\n');
    expect(await actsOf(3, createFailpoints('orders', folder))).toEqual([1]);
    expect(armed()).toEqual([]);
    expect(count('acted', 'orders.stock-reserved:unsaved')).toBe(1);
  });

  it.each([
    ['error times=2', [1, 2], false],
    ['error every=3', [3, 6, 9], true],
    ['error every=3 times=2', [3, 6], false],
    ['error every=1', [1, 2, 3, 4, 5, 6, 7, 8, 9], true],
  ])('%s acts on hits %j of nine', async (order, expected, isArmedStill) => {
    arm('orders.stock-reserved:unsaved', order);
    expect(await actsOf(9, createFailpoints('orders', folder))).toEqual(expected);
    expect(armed()).toEqual(isArmedStill ? ['orders.stock-reserved:unsaved'] : []);
  });

  it('counts the hits of all instances of its service, and of no other', async () => {
    const name = 'transaction-committed:unacknowledged';
    arm(`stock.${name}`, 'error every=2 times=1');
    const [one, other, shipping] = [
      createFailpoints('stock', folder),
      createFailpoints('stock', folder),
      createFailpoints('shipping', folder),
    ];
    await shipping(name);
    await one(name);
    await expect(other(name)).rejects.toBeInstanceOf(TransientError);
  });

  it.each([
    ['error', TransientError],
    ['drop-reply', ReplyDroppedError],
    ['respond 503', ForcedResponseError],
  ] as const)('%s is thrown as its own type', async (order, type) => {
    arm('orders.stock-reserved:unsaved', order);
    await expect(createFailpoints('orders', folder)('stock-reserved:unsaved')).rejects.toBeInstanceOf(type);
  });

  it('is counted also when it kills the process', async () => {
    arm('orders.stock-reserved:unsaved', 'kill times=2');
    const source = new URL('./failpoints.ts', import.meta.url).href;
    const program = `import { createFailpoints } from ${JSON.stringify(source)};
      await createFailpoints('orders', ${JSON.stringify(folder)})('stock-reserved:unsaved');
      console.error('it lives');`;
    const run = () =>
      new Promise<NodeJS.Signals | null>((resolve, reject) => {
        const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { cwd: import.meta.dirname });
        child.once('error', reject).once('close', (_code, signal) => resolve(signal));
      });
    expect([await run(), await run(), await run()]).toEqual(['SIGKILL', 'SIGKILL', null]);
    expect([count('hits', 'orders.stock-reserved:unsaved'), count('acted', 'orders.stock-reserved:unsaved')]).toEqual([
      3, 2,
    ]);
  }, 20_000);
});

describe('the order in an armed file', () => {
  it.each([
    ['kill', { verb: 'kill', argument: undefined, every: 1, times: 1 }],
    ['kill 100', { verb: 'kill', argument: 100, every: 1, times: 1 }],
    ['respond 503 every=3', { verb: 'respond', argument: 503, every: 3, times: Number.POSITIVE_INFINITY }],
    ['delay 2000 every=2 times=4', { verb: 'delay', argument: 2000, every: 2, times: 4 }],
  ])('%s is read', (text, expected) => {
    expect(parseArmedFailpoint(text)).toEqual(expected);
  });

  it.each(['', 'explode', 'delay', 'respond', 'kill soon', 'error every=0', 'error times=-1'])(
    '"%s" is refused',
    (text) => {
      expect(() => parseArmedFailpoint(text)).toThrow('expected kill');
    },
  );
});

describe('the folder', () => {
  it('is refused when others can open it', () => {
    chmodSync(folder, 0o755);
    expect(() => createFailpoints('orders', folder)).toThrow('only this user can open');
  });

  it('is made for this user only', () => {
    const made = join(folder, 'failpoints');
    createFailpoints('orders', made);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    expect(statSync(join(made, 'hits')).mode & 0o777).toBe(0o700);
  });
});
