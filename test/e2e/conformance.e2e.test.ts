/*
 * Goal: every HTTP service does what its OpenAPI document says, and refuses what it does not say, without an internal
 * failure.
 * Method: schemathesis makes requests from the document each service serves, with a fixed seed, and runs all of its
 * checks on the responses of a real platform. CONFORMANCE_EXAMPLES sets how many, CONFORMANCE_REQUIRED=1 makes a
 * missing schemathesis a failure.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { installSchemathesis, runSchemathesis } from './support/schemathesis.ts';

const examples = Number(process.env.CONFORMANCE_EXAMPLES ?? 25);
/** For one service, in ms; 25 examples take a quarter of a minute. */
const timeoutMs = 60_000 + examples * 4_000;

const installed = await installSchemathesis();
const missing = 'missing' in installed ? installed.missing : undefined;
if (missing !== undefined && process.env.CONFORMANCE_REQUIRED === '1') throw new Error(missing);
if (missing !== undefined) console.warn(`skipped: conformance with the OpenAPI documents: ${missing}`);

describe.skipIf(missing !== undefined)('schemathesis finds nothing', () => {
  let platform: TestPlatform;
  let workFolder: string;

  beforeAll(async () => {
    workFolder = await mkdtemp(join(tmpdir(), 'shop-conformance-'));
    platform = await startPlatform({ project: 'e2e-conformance', direct: true });
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(workFolder, { recursive: true, force: true });
  });

  it.each(['gateway', 'orders', 'catalog', 'payments', 'shipping'])(
    'in %s',
    { timeout: timeoutMs },
    async (service) => {
      if (!('python' in installed)) throw new Error(missing);
      const { ports } = await platform.instance(`${service}-1`);
      const url = `http://127.0.0.1:${ports.main}/openapi.json`;
      const options = { examples, timeoutMs: timeoutMs - 5_000, cwd: workFolder };
      const { code, output } = await runSchemathesis(installed.python, url, options);
      expect(code, output).toBe(0);
      expect(output).toMatch(/^ {2}(\d+) generated, \1 passed$/m);
      console.info(`${service}: ${/\d+ generated, \d+ passed/.exec(output)?.[0]}`);
    },
  );

  it('in the logs either: no service has failed', async () => {
    const errors = (await platform.logs()).filter(({ level }) => level === 'error' || level === 'fatal');
    expect(errors).toEqual([]);
  });
});
