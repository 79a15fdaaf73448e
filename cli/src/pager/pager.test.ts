/*
 * Goal: which alerts are brought to people, and when.
 * Method: a pager with a clock that the test sets, and a journal in memory; alerts as Prometheus reports them.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ReportedAlert } from './alert.ts';
import { createPager, ESCALATE_AFTER_MS, type Pager, TooManyAlertsError } from './pager.ts';
import { applyEvent, emptyState, MOST_DELIVERIES, type PagerState } from './pager-state.ts';
import { memoryJournal } from './testing/memory-journal.ts';

const START_MS = Date.parse('2026-11-24T05:00:00.000Z');
let nowMs: number;
let isExpected: boolean | undefined;
let journal: ReturnType<typeof memoryJournal>;
let pager: Pager;
const problems: string[] = [];

function start(state: PagerState = emptyState(), delivers = false): void {
  journal = memoryJournal();
  pager = createPager({
    state,
    journal,
    now: () => nowMs,
    report: (problem) => problems.push(problem),
    delivers,
    isPipelineExpected: () => isExpected,
  });
}

beforeEach(() => {
  nowMs = START_MS;
  isExpected = undefined;
  problems.length = 0;
  start();
});

/** As Prometheus sends one that fires: its end is a minute ahead. */
function alert(alertname: string, severity = 'page', more: Partial<ReportedAlert> = {}): ReportedAlert {
  return { labels: { alertname, severity }, startsAtMs: START_MS, endsAtMs: nowMs + 60_000, ...more };
}

/** Time goes on in steps in which the pager looks; what fires is reported again every 10 s. */
async function pass(ms: number, firing: readonly string[] = []): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    nowMs += 1_000;
    if (passed % 10_000 === 0 && firing.length > 0) await pager.receive(firing.map((name) => alert(name)));
    await pager.tick();
  }
}

const happened = () =>
  journal.events.map((event) => `${event.type} ${'alertname' in event ? event.alertname : ''}`.trim());
const silence = (name: string, forMs: number) =>
  pager.setSilence({
    matchers: [{ name: 'alertname', value: name, isRegex: false, isEqual: true }],
    startsAtMs: nowMs,
    endsAtMs: nowMs + forMs,
    createdBy: 'anna',
    comment: 'planned',
    annotations: {},
  });
const fingerprints = () => pager.alerts().map(({ alert: { fingerprint } }) => fingerprint);

describe('a page', () => {
  it('is notified once, however often it is reported', async () => {
    await pager.receive([alert('OutboxStalled')]);
    await pass(20_000, ['OutboxStalled']);
    expect(happened()).toEqual(['fired OutboxStalled', 'notified OutboxStalled']);
  });

  it('is escalated once where it has no acknowledgement after 60 s', async () => {
    await pager.receive([alert('OutboxStalled')]);
    await pass(ESCALATE_AFTER_MS - 1_000, ['OutboxStalled']);
    expect(happened()).not.toContain('escalated OutboxStalled');
    await pass(1_000);
    expect(happened()).toContain('escalated OutboxStalled');
    await pass(120_000, ['OutboxStalled']);
    expect(happened().filter((one) => one.startsWith('escalated'))).toHaveLength(1);
  });

  it('is not escalated after an acknowledgement, which has its user and note', async () => {
    await pager.receive([alert('OutboxStalled')]);
    await pager.acknowledge(fingerprints(), 'anna', 'I look');
    await pass(120_000, ['OutboxStalled']);
    expect(happened()).toEqual(['fired OutboxStalled', 'notified OutboxStalled', 'acknowledged OutboxStalled']);
    expect(pager.alerts()).toMatchObject([{ acknowledged: { by: 'anna', note: 'I look' } }]);
    expect(await pager.acknowledge(fingerprints(), 'ben')).toEqual([]);
  });

  it('is resolved by its reported end, and notified again when it fires again', async () => {
    await pager.receive([alert('OutboxStalled')]);
    await pager.acknowledge(fingerprints(), 'anna');
    await pass(2_000);
    await pager.receive([alert('OutboxStalled', 'page', { endsAtMs: nowMs - 500 })]);
    expect(journal.events.at(-1)).toMatchObject({ type: 'resolved', firedMs: 1_500 });
    expect(pager.alerts()).toEqual([]);
    // Prometheus repeats for 15 minutes what is resolved.
    await pager.receive([alert('OutboxStalled', 'page', { endsAtMs: nowMs - 500 })]);
    await pager.receive([alert('OutboxStalled', 'page', { startsAtMs: nowMs })]);
    expect(happened().slice(3)).toEqual(['resolved OutboxStalled', 'fired OutboxStalled', 'notified OutboxStalled']);
    expect(pager.alerts()[0]?.acknowledged).toBeUndefined();
  });

  it('is resolved when its end passes without another report', async () => {
    await pager.receive([alert('OutboxStalled')]);
    await pass(59_000);
    expect(pager.alerts()).toHaveLength(1);
    await pass(1_000);
    expect(pager.alerts()).toEqual([]);
    expect(journal.events.at(-1)).toMatchObject({ type: 'resolved', unreported: true, firedMs: 60_000 });
  });

  it('without an end is resolved after 5 minutes without another report', async () => {
    await pager.receive([{ labels: { alertname: 'ByHand', severity: 'page' } }]);
    await pass(299_000);
    expect(pager.alerts()).toHaveLength(1);
    await pass(1_000);
    expect(pager.alerts()).toEqual([]);
  });
});

describe('a silence', () => {
  it('keeps a page from being notified, until it ends', async () => {
    await silence('OutboxStalled', 30_000);
    await pager.receive([alert('OutboxStalled')]);
    await pass(29_000, ['OutboxStalled']);
    expect(happened()).toEqual(['silence', 'fired OutboxStalled']);
    await pass(1_000);
    expect(happened()).toContain('notified OutboxStalled');
  });

  it('keeps a notified page from being escalated; after it the 60 s begin again', async () => {
    await pager.receive([alert('OutboxStalled')]);
    await pass(50_000, ['OutboxStalled']);
    await silence('OutboxStalled', 20_000);
    await pass(79_000, ['OutboxStalled']);
    expect(happened()).not.toContain('escalated OutboxStalled');
    await pass(2_000, ['OutboxStalled']);
    expect(happened()).toContain('escalated OutboxStalled');
  });

  it('that is ended lets pages through immediately', async () => {
    const { id } = await silence('OutboxStalled', 600_000);
    await pager.receive([alert('OutboxStalled')]);
    expect(await pager.expireSilence(id)).toBe(true);
    expect(happened()).toContain('notified OutboxStalled');
    expect(await pager.expireSilence(id)).toBe(false);
  });

  it('is one of 500 at most', async () => {
    for (let index = 0; index < 500; index++) await silence(`Alert${index}`, 60_000);
    await expect(silence('OneMore', 60_000)).rejects.toThrow('exceeded maximum number of silences');
    await pass(61_000);
    await silence('OneMore', 60_000);
  });

  it('is forgotten five days after its end', async () => {
    await silence('OutboxStalled', 1_000);
    nowMs += 1_000 + 120 * 3_600_000 - 1;
    await pager.tick();
    expect(pager.silences()).toHaveLength(1);
    nowMs += 1;
    await pager.tick();
    expect(pager.silences()).toEqual([]);
  });
});

describe('an alert that is not a page', () => {
  it('is never notified', async () => {
    await pager.receive([alert('DeadLetters', 'ticket'), alert('BreakerOpen', 'cause'), alert('Watchdog', 'none')]);
    await pass(120_000);
    expect(happened().filter((one) => /notified|escalated/.test(one))).toEqual([]);
  });

  it('is inhibited while a page fires, where it is a cause', async () => {
    await pager.receive([alert('OutboxStalled'), alert('BreakerOpen', 'cause'), alert('DeadLetters', 'ticket')]);
    const inhibited = pager.alerts().filter(({ inhibitedBy }) => inhibitedBy.length > 0);
    expect(inhibited.map((view) => view.alert.labels.alertname)).toEqual(['BreakerOpen']);
    await pager.receive([alert('OutboxStalled', 'page', { endsAtMs: nowMs })]);
    expect(pager.alerts().flatMap(({ inhibitedBy }) => inhibitedBy)).toEqual([]);
  });
});

describe('a pager that begins again', () => {
  /** What a killed process leaves: its journal, some time later. */
  function startAgain(afterMs: number): void {
    const state = emptyState();
    for (const event of journal.events) applyEvent(state, event);
    nowMs += afterMs;
    start(state);
  }

  it('has alerts, acknowledgements and silences of before, and notifies nothing twice', async () => {
    await silence('Other', 3_600_000);
    await pager.receive([alert('OutboxStalled'), alert('SagasStuck')]);
    await pager.acknowledge(fingerprints().slice(0, 1), 'anna');
    const before = pager.alerts();
    startAgain(2_000);
    await pager.receive([alert('OutboxStalled'), alert('SagasStuck')]);
    expect(journal.events).toEqual([]);
    expect(pager.alerts().map(({ acknowledged }) => acknowledged?.by)).toEqual(
      before.map(({ acknowledged }) => acknowledged?.by),
    );
    expect(pager.silences()).toHaveLength(1);
  });

  it('gives sources a minute to report again, however long it did not run', async () => {
    await pager.receive([alert('OutboxStalled')]);
    startAgain(3_600_000);
    await pass(59_000);
    expect(pager.alerts()).toHaveLength(1);
    await pass(2_000);
    expect(happened()).toEqual(['resolved OutboxStalled']);
  });

  it('escalates 60 s after the page was reported again', async () => {
    await pager.receive([alert('OutboxStalled')]);
    startAgain(3_600_000);
    await pass(20_000);
    await pass(ESCALATE_AFTER_MS - 1_000, ['OutboxStalled']);
    expect(happened()).toEqual([]);
    await pass(3_000, ['OutboxStalled']);
    expect(happened()).toEqual(['escalated OutboxStalled']);
  });
});

describe('time in which the process was stopped', () => {
  it('resolves and escalates nothing', async () => {
    isExpected = true;
    await pager.receive([alert('OutboxStalled'), alert('Watchdog', 'none')]);
    await pass(30_000, ['OutboxStalled']);
    nowMs += 600_000;
    await pager.tick();
    await pager.receive([alert('OutboxStalled'), alert('Watchdog', 'none')]);
    await pass(20_000, ['OutboxStalled']);
    expect(happened()).toEqual(['fired OutboxStalled', 'fired Watchdog', 'notified OutboxStalled']);
  });
});

describe('the pipeline', () => {
  it('is off without Prometheus, and reported by nothing', async () => {
    await pass(120_000);
    expect(pager.pipeline()).toBe('off');
    expect(happened()).toEqual([]);
  });

  it('is lost where Prometheus should evaluate and Watchdog does not come', async () => {
    isExpected = true;
    await pass(30_000);
    expect(pager.pipeline()).toBe('unknown');
    await pass(1_000);
    expect(pager.pipeline()).toBe('lost');
    expect(happened()).toEqual(['pipeline']);
  });

  it('is lost when Watchdog is not reported any more, and restored with it', async () => {
    isExpected = true;
    await pager.receive([alert('Watchdog', 'none')]);
    expect(pager.pipeline()).toBe('working');
    await pass(120_000);
    expect(pager.pipeline()).toBe('lost');
    await pager.receive([alert('Watchdog', 'none', { startsAtMs: nowMs })]);
    expect(journal.events.flatMap((event) => (event.type === 'pipeline' ? [event.status] : []))).toEqual([
      'lost',
      'restored',
    ]);
  });

  it('is not lost where an operator has stopped Prometheus', async () => {
    isExpected = true;
    await pager.receive([alert('Watchdog', 'none')]);
    isExpected = false;
    await pass(180_000);
    expect(happened()).toEqual(['fired Watchdog', 'resolved Watchdog']);
    expect(pager.pipeline()).toBe('off');
  });
});

describe('limits', () => {
  it('takes 2,000 alerts, and refuses others while those fire', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => alert(`Alert${index}`, 'ticket'));
    await pager.receive(many);
    await expect(pager.receive([alert('OneMore', 'ticket')])).rejects.toThrow(TooManyAlertsError);
    await pager.receive([alert('Alert0', 'ticket', { endsAtMs: nowMs })]);
    await pager.receive([alert('OneMore', 'ticket')]);
    expect(pager.alerts()).toHaveLength(2_000);
  });

  it('keeps the newest 100 for a webhook that does not respond', async () => {
    start(emptyState(), true);
    await pager.receive(Array.from({ length: MOST_DELIVERIES + 5 }, (_, index) => alert(`Alert${index}`)));
    expect(pager.deliveries()).toHaveLength(MOST_DELIVERIES);
    expect(journal.events.filter(({ type }) => type === 'undelivered')).toHaveLength(5);
  });

  it('reports what could not be written; it is in effect', async () => {
    journal.append = () => Promise.reject(new Error('no space left on device'));
    await pager.receive([alert('OutboxStalled')]);
    expect(pager.alerts()).toHaveLength(1);
    expect(problems).toEqual([
      'fired not recorded: no space left on device',
      'notified not recorded: no space left on device',
    ]);
  });
});

it('has the webhook trigger, acknowledge and resolve only what it was notified of', async () => {
  start(emptyState(), true);
  await silence('Silent', 600_000);
  await pager.receive([alert('OutboxStalled'), alert('Silent'), alert('DeadLetters', 'ticket')]);
  await pager.acknowledge(fingerprints(), 'anna');
  await pager.receive([
    alert('OutboxStalled', 'page', { endsAtMs: nowMs }),
    alert('Silent', 'page', { endsAtMs: nowMs }),
  ]);
  const waiting = pager.deliveries().map(({ action, alert: { labels } }) => `${action} ${labels.alertname}`);
  expect(waiting).toEqual(['trigger OutboxStalled', 'acknowledge OutboxStalled', 'resolve OutboxStalled']);
});
