/*
 * Goal: an operator sees what fires, and what they do about it reaches the pager, the change log and the next operator.
 * Method: the pager of a supervisor without its platform, in a temporary folder with rules and a runbook; commands as handlers.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { type SupervisedPager, startSupervisedPager } from '../../pager/testing/supervised-pager.ts';
import { readChanges } from '../../platform/change-log.ts';
import { openProject, type Project } from '../../platform/project.ts';
import { runAck } from './run-ack.ts';
import { runHistory } from './run-history.ts';
import { type ListOptions, runList } from './run-ls.ts';
import { runShow } from './run-show.ts';
import { runSilence, runUnsilence } from './run-silence.ts';

let root: string;
let project: Project;
let pager: SupervisedPager | undefined;
let printed: string;
let rung: string;

const RULES = `groups:
  - name: shop-page
    rules:
      - alert: OutboxStalled
        expr: max(shop_outbox_oldest_age_seconds) > 10
        for: 5s
        labels: {severity: page, slo: queue-age}
        annotations:
          summary: Events wait in the outbox
          runbook: docs/runbooks/OutboxStalled.md
      - alert: BreakerOpen
        expr: shop_breaker_open > 0
        labels: {severity: cause}
`;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-alerts-'));
  project = openProject('shop', root, { SHOPCTL_HOME: join(root, '.shop') });
  await mkdir(join(root, 'dashboards/prometheus/laptop'), { recursive: true });
  await writeFile(join(root, 'dashboards/prometheus/laptop/alerts.yaml'), RULES);
  await mkdir(join(root, 'docs/runbooks'), { recursive: true });
  const runbook = '# OutboxStalled\n\n## First look\n\n```sh\nshopctl outbox ls    # how many wait\n```\n\n## Decide\n';
  await writeFile(join(root, 'docs/runbooks/OutboxStalled.md'), runbook);
});
afterEach(async () => {
  await pager?.[Symbol.asyncDispose]();
  pager = undefined;
  await rm(root, { recursive: true });
});

function deps(json = false, signal: AbortSignal = new AbortController().signal): CommandDeps {
  printed = '';
  rung = '';
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const stderr = {
    isTTY: true,
    columns: 80,
    write(text: string) {
      rung += text;
    },
  };
  const output = createOutput({ stdout, stderr, env: { NO_COLOR: '1' } });
  if (json) output.use('json');
  return { output, env: {}, signal, projectFrom: () => project } as unknown as CommandDeps;
}

async function text(run: (deps: CommandDeps) => Promise<void>): Promise<string> {
  await run(deps());
  return printed.trimEnd();
}

async function json(run: (deps: CommandDeps) => Promise<void>) {
  await run(deps(true));
  return JSON.parse(printed);
}

/** One that fires since the given number of seconds. */
function alert(alertname: string, severity: string, more: object = {}, firesForS = 65) {
  return {
    labels: { alertname, severity, ...more },
    annotations: { summary: `${alertname} is\u001b[31m on` },
    startsAt: new Date(Date.now() - firesForS * 1000).toISOString(),
    endsAt: new Date(Date.now() + 60_000).toISOString(),
  };
}

async function start(): Promise<SupervisedPager> {
  pager = await startSupervisedPager(project);
  return pager;
}

const withoutTimes = (lines: string) => lines.replace(/\d{4}-\d\d-\d\d[ T][\d:.]+Z?/g, 'TIME');

describe('alerts ls', () => {
  it('lists pages first, with their state and age, and what inhibits causes', async () => {
    const { report } = await start();
    await report(alert('BreakerOpen', 'cause', { edge: 'orders-payments' }), alert('DeadLetters', 'ticket'));
    await report(alert('OutboxStalled', 'page', { slo: 'queue-age' }));
    expect((await text((deps) => runList({}, deps))).split('\n')).toEqual([
      'SEVERITY  ALERT          STATE      AGE  LABELS                  SUMMARY',
      'page      OutboxStalled  firing     1m   slo="queue-age"         OutboxStalled is [31m on',
      'ticket    DeadLetters    firing     1m   -                       DeadLetters is [31m on',
      'cause     BreakerOpen    inhibited  1m   edge="orders-payments"  BreakerOpen is [31m on',
      'no Prometheus evaluates rules: "shopctl up --with alerts"',
    ]);
    const { alerts } = await json((deps) => runList({ severity: ['cause'] }, deps));
    expect(alerts).toMatchObject([{ alertname: 'BreakerOpen', state: 'inhibited', fingerprint: expect.any(String) }]);
  });

  it('ends with 3 where the platform runs without alerts, and with 4 where none runs', async () => {
    await expect(runList({}, deps())).rejects.toMatchObject({ code: 'platform_not_running', exitCode: 4 });
    await start();
    await expect(runList({}, deps())).rejects.toMatchObject({
      code: 'alerts_off',
      exitCode: 3,
      next: expect.stringContaining('up --with alerts'),
    });
  });

  it('goes on with what happens, and rings on a terminal for pages alone', async () => {
    const { report } = await start();
    await report(alert('DeadLetters', 'ticket'));
    const over = new AbortController();
    const following = deps(true, over.signal);
    const lines = () =>
      printed
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    const running = runList({ follow: true, json: true }, following).catch((error: unknown) => error);
    await expect.poll(lines).toHaveLength(1);
    await report(alert('BreakerOpen', 'cause'));
    await report(alert('OutboxStalled', 'page'));
    await expect.poll(() => lines().map(({ type }) => type)).toEqual(['now', 'fired', 'fired', 'notified']);
    over.abort();
    await running;
    expect(rung).toContain('\u0007\u001b]9;OutboxStalled: OutboxStalled is [31m on\u0007');
    expect(rung).toContain('\u001b]777;notify;OutboxStalled;OutboxStalled is [31m on\u0007');
    expect(rung).not.toContain('BreakerOpen');
  });

  it('refuses a notice on the desktop without --follow', async () => {
    const options: ListOptions = { notify: true };
    await expect(runList(options, deps())).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('alerts ack', () => {
  it('acknowledges what fires under a name, with the user and a note, and is a change', async () => {
    const { report, events } = await start();
    await report(alert('OutboxStalled', 'page', { burn: 'fast' }), alert('OutboxStalled', 'page', { burn: 'slow' }));
    expect(await text((deps) => runAck('OutboxStalled', { note: 'I look' }, deps))).toBe(
      'acknowledged 2: OutboxStalled',
    );
    expect(await text((deps) => runAck('OutboxStalled', {}, deps))).toBe('2 had been acknowledged');
    const { alerts } = await json((deps) => runList({}, deps));
    expect(alerts[0]).toMatchObject({
      state: 'acknowledged',
      acknowledged: { by: expect.any(String), note: 'I look' },
    });
    const { changes } = await readChanges(project);
    expect(changes).toMatchObject([
      { kind: 'acknowledge', target: 'OutboxStalled', from: 'firing', to: 'acknowledged', reason: 'I look' },
      { kind: 'acknowledge' },
    ]);
    expect(events.recent().map(({ type }) => type)).toContain('pager.acknowledged');
  });

  it('takes a fingerprint, or all pages', async () => {
    const { report } = await start();
    await report(alert('OutboxStalled', 'page'), alert('SagasStuck', 'page'), alert('DeadLetters', 'ticket'));
    const { alerts } = await json((deps) => runList({}, deps));
    await runAck(alerts[0].fingerprint, {}, deps());
    expect(await text((deps) => runAck(undefined, { all: true }, deps))).toMatch(
      /^acknowledged 1: \w+; 1 had been acknowledged$/,
    );
  });

  it('ends with 1 where the alert does not fire, and with 2 for a name that is unknown', async () => {
    await start();
    await expect(runAck('OutboxStalled', {}, deps())).rejects.toMatchObject({ code: 'alert_not_firing', exitCode: 1 });
    await expect(runAck('OutboxStaled', {}, deps())).rejects.toMatchObject({
      code: 'unknown_alert',
      exitCode: 2,
      what: 'unknown alert "OutboxStaled", did you mean "OutboxStalled"?',
    });
    await expect(runAck(undefined, {}, deps())).rejects.toMatchObject({ exitCode: 2 });
    await expect(runAck('OutboxStalled', { all: true }, deps())).rejects.toMatchObject({ exitCode: 2 });
  });
});

describe('alerts silence', () => {
  const options = { for: 600_000, reason: 'planned' };

  it('silences an alert by its name and labels, until it is ended; both are changes', async () => {
    const { report } = await start();
    await report(alert('OutboxStalled', 'page', { burn: 'fast' }), alert('OutboxStalled', 'page', { burn: 'slow' }));
    expect(await text((deps) => runSilence('OutboxStalled', ['burn=~fa.*'], options, deps))).toMatch(
      /^silenced until .*Z: alertname="OutboxStalled", burn=~"fa\.\*" \([0-9a-f-]{36}\)$/,
    );
    const states = async () =>
      (await json((deps) => runList({}, deps))).alerts.map((one: { labels: { burn: string }; state: string }) => [
        one.labels.burn,
        one.state,
      ]);
    expect(await states()).toEqual([
      ['slow', 'firing'],
      ['fast', 'silenced'],
    ]);
    expect(await text((deps) => runList({}, deps))).toContain(
      'silenced: alertname="OutboxStalled", burn=~"fa.*" until',
    );
    expect(await text((deps) => runUnsilence('OutboxStalled', { reason: 'done' }, deps))).toBe(
      'ended: alertname="OutboxStalled", burn=~"fa.*"',
    );
    expect(await text((deps) => runUnsilence('OutboxStalled', {}, deps))).toBe('no silence of OutboxStalled is active');
    expect((await readChanges(project)).changes).toMatchObject([
      { kind: 'silence', from: null, to: expect.stringMatching(/^until /), reason: 'planned' },
      { kind: 'silence', from: expect.stringMatching(/^until /), to: null, reason: 'done' },
    ]);
  });

  it('refuses names and matchers that mean nothing', async () => {
    await start();
    await expect(runSilence('OutboxStaled', [], options, deps())).rejects.toMatchObject({ code: 'unknown_alert' });
    await expect(runSilence('OutboxStalled', ['burn'], options, deps())).rejects.toMatchObject({ exitCode: 2 });
    await expect(runSilence('OutboxStalled', ['a=~('], options, deps())).rejects.toMatchObject({ exitCode: 2 });
    await expect(runSilence('OutboxStalled', [], { ...options, for: 0 }, deps())).rejects.toMatchObject({
      exitCode: 2,
    });
    await expect(runUnsilence('Nothing', {}, deps())).rejects.toMatchObject({ code: 'unknown_alert' });
  });

  it("made through Alertmanager's API is a change of its author", async () => {
    const { url } = await start();
    const silence = {
      matchers: [{ name: 'alertname', value: 'OutboxStalled', isRegex: false }],
      startsAt: new Date().toISOString(),
      endsAt: new Date(Date.now() + 60_000).toISOString(),
      createdBy: 'ben\u001b[2J',
      comment: 'by amtool',
    };
    await fetch(`${url}/api/v2/silences`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(silence),
    });
    expect((await readChanges(project)).changes).toMatchObject([
      { kind: 'silence', by: { user: 'ben [2J', source: 'Alertmanager API' }, reason: 'by amtool' },
    ]);
  });
});

describe('alerts show', () => {
  it('has the rule, what fires, the history and the first look of the runbook', async () => {
    const { report } = await start();
    await report(alert('OutboxStalled', 'page', { slo: 'queue-age' }));
    expect(withoutTimes(await text((deps) => runShow('OutboxStalled', {}, deps))).split('\n')).toEqual([
      'OutboxStalled',
      '',
      'severity  page',
      'summary   Events wait in the outbox',
      `runbook   ${join(root, 'docs/runbooks/OutboxStalled.md')}`,
      '',
      'now:',
      '  firing for 1m, slo="queue-age"',
      '  no Prometheus evaluates rules: "shopctl up --with alerts"',
      '',
      'rule (slo="queue-age", for 5s):',
      '  max(shop_outbox_oldest_age_seconds) > 10',
      '',
      'history:',
      '  TIME  fired     OutboxStalled  page  slo="queue-age"  OutboxStalled is [31m on',
      '  TIME  notified  OutboxStalled  slo="queue-age"  OutboxStalled is [31m on',
      '',
      'first look:',
      '  shopctl outbox ls    # how many wait',
    ]);
  });

  it('works on a stopped platform, and for alerts that no rule has', async () => {
    const running = await start();
    await running.report(alert('ByHand', 'page', {}), {
      ...alert('Outside', 'page'),
      annotations: { runbook: '../../../../etc/passwd' },
    });
    expect(await json((deps) => runShow('Outside', {}, deps))).toMatchObject({ rules: [], runbook: null });
    await running[Symbol.asyncDispose]();
    pager = undefined;
    expect(await text((deps) => runShow('ByHand', {}, deps))).toContain('unknown: the platform does not run');
    expect(await json((deps) => runShow('BreakerOpen', {}, deps))).toMatchObject({ firing: null, runbook: null });
    await expect(runShow('Nothing', {}, deps())).rejects.toMatchObject({ code: 'unknown_alert', exitCode: 2 });
  });
});

describe('alerts history', () => {
  it('has what happened, the newest last, of one alert or of all', async () => {
    expect(await text((deps) => runHistory(undefined, {}, deps))).toBe('no alert has fired yet');
    const { report } = await start();
    await report(alert('OutboxStalled', 'page'), alert('DeadLetters', 'ticket'));
    await runAck('OutboxStalled', { note: 'I look' }, deps());
    await report({ ...alert('OutboxStalled', 'page'), endsAt: new Date().toISOString() });
    const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);
    const { events } = await json((deps) => runHistory('OutboxStalled', {}, deps));
    expect(types(events)).toEqual(['fired', 'notified', 'acknowledged', 'resolved']);
    const newest = await json((deps) => runHistory(undefined, { tail: 1 }, deps));
    expect(types(newest.events)).toEqual(['resolved']);
    expect(withoutTimes(await text((deps) => runHistory('OutboxStalled', {}, deps)))).toMatch(
      /^TIME \(UTC\) .*\nTIME {2}fired .*\nTIME {2}notified .*\nTIME {2}acknowledged {2}OutboxStalled {2}by .*: I look\nTIME {2}resolved {6}OutboxStalled {2}after 1m$/s,
    );
    await expect(runHistory('Nothing', {}, deps())).rejects.toMatchObject({ code: 'unknown_alert' });
  });
});

it('a supervisor that was killed continues with what was acknowledged and silenced', async () => {
  const { report, kill } = await start();
  await report(alert('OutboxStalled', 'page'), alert('SagasStuck', 'page'));
  await runAck('OutboxStalled', {}, deps());
  await runSilence('OutboxStalled', ['burn=fast'], { for: 600_000, reason: 'planned' }, deps());
  await kill();
  await start();
  const { alerts, silences } = await json((deps) => runList({}, deps));
  expect(alerts.map((one: { alertname: string; state: string }) => [one.alertname, one.state])).toEqual(
    expect.arrayContaining([
      ['OutboxStalled', 'acknowledged'],
      ['SagasStuck', 'firing'],
    ]),
  );
  expect(silences).toHaveLength(1);
});
