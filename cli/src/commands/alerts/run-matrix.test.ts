/*
 * Goal: what is wrong with a matrix is reported before a platform is started, and a run that is complete is evaluated from its journal.
 * Method: the command as a handler, in a project whose root is the clone; no platform is started.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MatrixLine } from '../../alert-matrix/journal.ts';
import { aPair, aRecord, aStart, outage } from '../../alert-matrix/testing/records.ts';
import { type MatrixOptions, runMatrixCommand } from './run-matrix.ts';
import { aHome, type Home } from './testing/a-home.ts';

let home: Home;
beforeEach(async () => {
  home = await aHome();
});
afterEach(() => home[Symbol.asyncDispose]());

const run = (options: MatrixOptions) => home.run(runMatrixCommand, options);
const runJson = async (options: MatrixOptions) => JSON.parse(await home.run(runMatrixCommand, options, { json: true }));
const aJournal = (...lines: readonly MatrixLine[]) => home.addRun('matrix', lines);

describe('a matrix is refused', () => {
  it.each([
    ['of an unknown fault', { faults: ['dwn'] }, 'unknown_fault'],
    ['of an unknown target', { targets: ['order'] }, 'unknown_fault_target'],
    ['of an unknown alert', { alerts: ['OutboxStaled'] }, 'unknown_alert'],
    ['of a run that there is not', { resume: 'yesterday' }, 'unknown_run'],
    ['of a run outside its folder', { resume: '../../state' }, 'unknown_run'],
    ['with a report that cannot be written', { html: '/nowhere/matrix.html' }, 'report_not_writable'],
  ])('%s', async (_, options, code) => {
    await expect(run(options)).rejects.toMatchObject({ code, exitCode: 2 });
  });
});

it('lists what it would measure, with the expectations', async () => {
  expect(await runJson({ dryRun: true, faults: ['down'], targets: ['orders-stock', 'orders-broker'] })).toMatchObject({
    pairs: [
      { name: 'down orders-stock', group: 'orders fail because of a dependency' },
      { name: 'down orders-broker', group: 'events do not reach the broker' },
    ],
    leftOut: 0,
  });
});

it('evaluates a complete run again, without a platform', async () => {
  const pair = aPair('down', 'orders-stock');
  const firing = {
    alertname: 'OrdersErrorBudgetBurn',
    severity: 'page',
    burn: 'fast',
    firedMs: 27_000,
    resolvedMs: 80_000,
  } as const;
  const start = { ...aStart([pair]), alerts: [{ alertname: 'OrdersErrorBudgetBurn', severity: 'page' as const }] };
  const resume = await aJournal(start, aRecord(pair, { ...outage, firings: [firing] }));
  const files = { html: join(home.folder, 'matrix.html'), junit: join(home.folder, 'matrix.xml') };
  expect(await run({ resume, ...files })).toContain('down orders-stock  hit        ✓ 7');
  expect(process.exitCode).toBe(0);
  expect(await readFile(files.html, 'utf8')).toContain('<td class="hit" title="OrdersErrorBudgetBurn: must">✓ 7</td>');
  expect(await readFile(files.junit, 'utf8')).toContain('classname="alerts.down" name="down orders-stock"');
});

it('a goal that is missed has exit code 1', async () => {
  const pair = aPair('down', 'orders-stock');
  const start = { ...aStart([pair]), alerts: [{ alertname: 'OrdersErrorBudgetBurn', severity: 'page' as const }] };
  expect(await run({ resume: await aJournal(start, aRecord(pair, outage)) })).toContain(
    'OrdersErrorBudgetBurn did not fire',
  );
  expect(process.exitCode).toBe(1);
});

it('a time that did not come is null as JSON', async () => {
  const pair = aPair('down', 'orders-stock');
  const start = { ...aStart([pair]), alerts: [{ alertname: 'OrdersErrorBudgetBurn', severity: 'page' as const }] };
  const resume = await aJournal(start, aRecord(pair, outage));
  expect(await runJson({ resume })).toMatchObject({
    verdict: 'fail',
    metrics: { recall: 0, detection: { count: 1, p95: null } },
    pairs: [{ name: 'down orders-stock', verdict: 'fail', isHit: true }],
  });
});
