/*
 * Goal: the matrix covers cells on a real platform, and its verdicts are of what happened there. Method: the built `shopctl`,
 * one row at two boundaries: events whose delivery is not acknowledged while the connection to the broker breaks.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJournal } from '../../cli/src/experiments/journal.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import * as chaos from './support/chaos.ts';
import { place } from './support/client.ts';

interface MatrixReport {
  readonly verdict: string;
  readonly cells: readonly { readonly fault: string; readonly at: string; readonly verdict: string }[];
  readonly notCovered: number;
  readonly runs: readonly { readonly journal: string }[];
}

let platform: TestPlatform;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chaos-matrix-'));
  platform = await startPlatform({ project: 'e2e-chaos-matrix', env: { SHOPCTL_FAILPOINTS: '1' } });
  await place(platform);
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

const ROW = ['--fault', 'down', '--target', 'shipping-broker'];

describe('chaos matrix', () => {
  it('holds orders at boundaries, injects the fault meanwhile, and says what came of each cell', async () => {
    const [junit, html] = [join(folder, 'matrix.xml'), join(folder, 'matrix.html')];
    const cells = [
      '--at',
      'shipping.message-received:unrecorded',
      '--at',
      'shipping.shipment-committed:message-unacknowledged',
    ];
    const files = ['--junit', junit, '--html', html];
    const { code, stdout, stderr } = await platform.shopctl('chaos', 'matrix', ...ROW, ...cells, ...files, '--json');
    const reported = JSON.parse(stdout) as MatrixReport;
    expect(reported.cells, stderr).toHaveLength(2);
    expect(reported, stderr).toMatchObject({ verdict: 'pass', notCovered: 0, findings: [] });
    expect(code).toBe(0);

    const { records } = await readJournal(reported.runs[0]?.journal ?? '');
    const injected = records.flatMap((one) =>
      one.type === 'fault' && one.state === 'injected' ? [one.lease.fault] : [],
    );
    expect(injected).toEqual(['failpoint', 'failpoint', 'down']);
    const seen = records.flatMap((one) => (one.type === 'witness' && one.verdict === 'observed' ? [one.step] : []));
    expect(seen.toSorted()).toEqual([
      'hold at shipping.message-received:unrecorded',
      'hold at shipping.shipment-committed:message-unacknowledged',
      'the fault',
    ]);

    expect(await readFile(junit, 'utf8')).toContain(
      'name="down shipping-broker at shipping.shipment-committed:message-unacknowledged"',
    );
    expect(await readFile(html, 'utf8')).toContain('down shipping-broker');
    await chaos.expectClean(platform);
  }, 180_000);

  it('begins nothing that would not end in its time, and says so', async () => {
    const { code, stdout } = await platform.shopctl('chaos', 'matrix', ...ROW, '--budget', '1s', '--json');
    const reported = JSON.parse(stdout) as MatrixReport;
    expect(reported).toMatchObject({ notCovered: 5, runs: [] });
    expect(new Set(reported.cells.map(({ verdict }) => verdict))).toEqual(new Set(['not covered']));
    expect(code).toBe(5);
  });

  it('refuses what it does not have, before anything happens', async () => {
    const { code, stderr } = await platform.shopctl('chaos', 'matrix', '--at', 'orders.stock-reserved:unsavd');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('did you mean "orders.stock-reserved:unsaved"'),
    });
  });
});
