import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHarness, refuseHarnessVariables } from './harness.ts';
import { createLogger } from './logger.ts';

// What a production build does with these variables is tested on its bundle: test/build/production.test.ts.
const logger = createLogger({ service: 'payments', instance: 'payments-1', level: 'silent' });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-harness-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the harness of a service', () => {
  it('is empty when its variables are not set', () => {
    expect(openHarness('payments', {}, logger)).toMatchObject({ seededBugs: new Set(), folder: undefined });
  });

  it('has the folder of its failpoints and its seeded bugs', () => {
    const env = { FAILPOINT_DIR: folder, SHOP_SEEDED_BUGS: 'charged-twice' };
    expect(openHarness('payments', env, logger)).toMatchObject({ seededBugs: new Set(['charged-twice']), folder });
  });

  it('takes no bug of another service', () => {
    const env = { FAILPOINT_DIR: folder, SHOP_SEEDED_BUGS: 'no-inbox' };
    expect(() => openHarness('gateway', env, logger)).toThrow('gateway has no bug "no-inbox"');
  });

  it('may be configured in a harness build', () => {
    expect(() => refuseHarnessVariables({ FAILPOINT_DIR: folder })).not.toThrow();
  });
});
