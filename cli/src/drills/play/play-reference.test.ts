import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { timerClock } from '../testing/fake-shop.ts';
import type { Operator } from './operator.ts';
import { playReference, type ReferencePorts } from './play-reference.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** An operator whose commands write what is said here, and nothing otherwise. */
function anOperator(outputs: Readonly<Record<string, unknown>> = {}) {
  const ran: string[] = [];
  const operator: Operator = {
    async run(words) {
      const text = words.join(' ');
      ran.push(text);
      const found = Object.entries(outputs).find(([begin]) => text.startsWith(begin));
      if (found?.[1] instanceof Error) return { exitCode: 2, stdout: '', complaint: found[1].message };
      return { exitCode: 0, stdout: found === undefined ? '' : JSON.stringify(found[1]) };
    },
  };
  return { operator, ran };
}

function portsOf(operator: Operator, pages: ReferencePorts['pages'] = async () => ['OutboxStalled']): ReferencePorts {
  return { clock: timerClock, operator, pages, signal: new AbortController().signal };
}

async function played(lines: readonly string[], ports: ReferencePorts) {
  const result = playReference(lines, ports);
  await vi.advanceTimersByTimeAsync(600_000);
  return result;
}

it('plays line by line, once a page fires', async () => {
  const { operator, ran } = anOperator();
  let looks = 0;
  const pages = async () => (++looks < 5 ? [] : ['OutboxStalled']);
  const done = await played(['wait page', 'drill ack', 'wait 2s', 'drill fixed'], portsOf(operator, pages));
  expect(ran).toEqual(['drill ack', 'drill fixed']);
  expect(done.map(({ played, tookMs }) => [played, tookMs])).toEqual([
    ['OutboxStalled', 4_000],
    ['drill ack', 0],
    ['wait 2s', 2_000],
    ['drill fixed', 0],
  ]);
});

it('ends with the first line that fails', async () => {
  const { operator, ran } = anOperator({ 'ops broker bind': new Error('the broker is not there') });
  const done = await played(['ops broker bind', 'drill fixed'], portsOf(operator));
  expect(ran).toEqual(['ops broker bind']);
  expect(done.at(-1)?.problem).toBe('it ended with 2: the broker is not there');
});

it('ends where no page comes', async () => {
  const done = await played(
    ['wait page', 'drill ack'],
    portsOf(anOperator().operator, async () => []),
  );
  expect(done.map(({ problem }) => problem)).toEqual(['no page came in 4 min 0 s']);
});

it('ends where no page can come any more', async () => {
  const { operator, ran } = anOperator();
  const done = await played(
    ['wait page', 'drill ack'],
    portsOf(operator, () => Promise.reject(new Error('it is over'))),
  );
  expect([ran, done.map(({ problem }) => problem)]).toEqual([[], ['it is over']]);
});

it('waits for the symptom of a metric', async () => {
  const { operator, ran } = anOperator();
  let looks = 0;
  const hasSymptom = async (): Promise<boolean> => ++looks >= 3;
  const done = await played(['wait symptom', 'drill declare "x"'], { ...portsOf(operator), hasSymptom });
  expect(ran).toEqual(['drill declare x']);
  expect(done[0]).toMatchObject({ played: 'wait symptom', tookMs: 2_000 });
});

it.each([
  ['never comes', async (): Promise<boolean> => false, 'the metric showed none in 4 min 0 s'],
  ['cannot be read', () => Promise.reject(new Error('Prometheus is stopped')), 'Prometheus is stopped'],
  ['is of no metric', undefined, 'only a scenario with a metric has it'],
] as const)('ends where a symptom %s', async (_what, hasSymptom, problem) => {
  const { operator, ran } = anOperator();
  const done = await played(['wait symptom', 'drill fixed'], { ...portsOf(operator), hasSymptom });
  expect([ran, done.map((line) => line.problem)]).toEqual([[], [problem]]);
});

it('names the failed order of a trace, not one that is cancelled as usual', async () => {
  const at = { createdAt: '2026-01-01T00:00:00Z', decidedAt: '2026-01-01T00:00:02Z', readAt: '2026-01-01T00:00:04Z' };
  const { operator, ran } = anOperator({
    'order list': [
      { status: 'Cancelled', reason: 'payment declined', traceId: 'aa', ...at },
      { status: 'Cancelled', reason: 'payment unavailable', traceId: 'bb', ...at },
    ],
  });
  await played(['drill blame --evidence trace:@failed'], portsOf(operator));
  expect(ran.at(-1)).toBe('drill blame --evidence trace:bb');
});

it('names a failed order whose spans had time to arrive from all services', async () => {
  const failed = (traceId: string, decidedAt: string) => ({
    status: 'Cancelled',
    reason: 'payment unavailable',
    traceId,
    createdAt: '2026-01-01T00:00:00Z',
    decidedAt,
    readAt: '2026-01-01T00:00:04Z',
  });
  const outputs: Record<string, unknown> = {
    'order list': [failed('aa', '2026-01-01T00:00:03.500Z')],
    'logs gateway': { level: 'warn', trace_id: 'cc' },
  };
  const { operator, ran } = anOperator(outputs);
  const older = failed('bb', '2026-01-01T00:00:01.500Z');
  setTimeout(() => Object.assign(outputs, { 'order list': [failed('aa', '2026-01-01T00:00:03.500Z'), older] }), 5_000);
  const done = await played(['drill blame --evidence trace:@failed'], portsOf(operator));
  expect(ran.at(-1)).toBe('drill blame --evidence trace:bb');
  expect(done[0]?.tookMs).toBe(5_000);
});

it('cites again what was not there yet, and nothing else that is refused', async () => {
  const refused = (code: string) => new Error(`{"error":{"code":"${code}"}}`);
  const outputs: Record<string, unknown> = { 'drill blame': refused('unknown_evidence') };
  const { operator } = anOperator(outputs);
  setTimeout(() => Object.assign(outputs, { 'drill blame': {} }), 3_000);
  const done = await played(['drill blame --evidence alert:BreakerOpen'], portsOf(operator));
  expect(done.map(({ tookMs, problem }) => [tookMs, problem])).toEqual([[3_000, undefined]]);
  const other = anOperator({ 'drill blame': refused('invalid_usage') });
  const [failed] = await played(['drill blame --evidence alert:BreakerOpen'], portsOf(other.operator));
  expect([other.ran.length, failed?.problem]).toEqual([1, expect.stringContaining('invalid_usage')]);
});

it('names an order that is open for longer than any order takes', async () => {
  const open = { status: null, reason: null, decidedAt: null, createdAt: '2026-01-01T00:00:00Z' };
  const { operator, ran } = anOperator({
    'order list': [
      { ...open, traceId: 'aa', readAt: '2026-01-01T00:00:01Z' },
      { ...open, traceId: 'bb', readAt: '2026-01-01T00:00:06Z' },
    ],
  });
  await played(['drill blame --evidence trace:@failed'], portsOf(operator));
  expect(ran.at(-1)).toBe('drill blame --evidence trace:bb');
});

it('waits for the page that is named, or for one of those that are awaited', async () => {
  const pages = ['TelemetryLost', 'OutboxStalled'];
  const ports = { ...portsOf(anOperator().operator, async () => pages), awaited: ['OutboxStalled'] };
  const done = await played(['wait page', 'wait page TelemetryLost', 'wait page DeadLetters'], ports);
  expect(done.map(({ played }) => played)).toEqual(['OutboxStalled', 'TelemetryLost', 'wait page DeadLetters']);
  expect(done.at(-1)?.problem).toContain('no page came');
});

it('takes the trace of a log line, where no failed order was stored', async () => {
  const { operator, ran } = anOperator({ 'order list': [], 'logs gateway': { level: 'warn', trace_id: 'cc' } });
  await played(['drill blame --evidence trace:@failed'], portsOf(operator));
  expect(ran.at(-1)).toBe('drill blame --evidence trace:cc');
});

it('waits for the spans of that trace', async () => {
  const outputs: Record<string, unknown> = {
    'order list': [],
    'logs gateway': { level: 'warn', trace_id: 'cc' },
    'trace show cc': new Error('unknown trace'),
  };
  const { operator, ran } = anOperator(outputs);
  setTimeout(() => Object.assign(outputs, { 'trace show cc': {} }), 5_000);
  const done = await played(['drill blame --evidence trace:@failed'], portsOf(operator));
  expect(ran.at(-1)).toBe('drill blame --evidence trace:cc');
  expect(done.map(({ tookMs, problem }) => [tookMs, problem])).toEqual([[5_000, undefined]]);
});

it('takes it as well where the database does not respond, and says so where there is none', async () => {
  const { operator, ran } = anOperator({
    'order list': new Error('no database'),
    'logs gateway': { level: 'error', trace_id: 'dd' },
  });
  await played(['drill blame --evidence trace:@failed'], portsOf(operator));
  expect(ran.at(-1)).toBe('drill blame --evidence trace:dd');
  const silent = anOperator({ 'order list': new Error('no database') }).operator;
  const done = await played(['drill blame --evidence trace:@failed'], portsOf(silent));
  expect(done.at(-1)?.problem).toContain('no database');
});

it.each([
  [
    'the session that blocks, and is not blocked',
    'ops db terminate @blocker:stock',
    {
      'ops db sessions stock': {
        sessions: [
          { pid: 7, application: 'a', blockedBy: [9] },
          { pid: 8, application: 'a', blockedBy: [7] },
          { pid: 9, application: 'b', blockedBy: [] },
        ],
      },
    },
    'ops db terminate 9',
  ],
  [
    'the application with the most sessions',
    'ops db terminate --application @largest:stock',
    {
      'ops db sessions stock': {
        sessions: [
          { pid: 7, application: 'stock-1', blockedBy: [] },
          { pid: 8, application: 'other', blockedBy: [] },
          { pid: 9, application: 'other', blockedBy: [] },
        ],
      },
    },
    'ops db terminate --application other',
  ],
  [
    'the newest change of a kind',
    'drill blame --evidence change:@flag',
    {
      changes: {
        changes: [
          { id: 'c1', kind: 'flag' },
          { id: 'c2', kind: 'flag' },
          { id: 'c3', kind: 'restart' },
        ],
      },
    },
    'drill blame --evidence change:c2',
  ],
])('finds %s', async (_what, line, outputs, expected) => {
  const { operator, ran } = anOperator(outputs);
  await played([line], portsOf(operator));
  expect(ran.at(-1)).toBe(expected);
});

it('says what was not found, and plays nothing with a gap', async () => {
  const { operator, ran } = anOperator({ changes: { changes: [] } });
  const done = await played(['drill blame --evidence change:@deploy', 'drill fixed'], portsOf(operator));
  expect(done.at(-1)?.problem).toBe('nothing was found for change:@deploy: there is none');
  expect(ran.some((text) => text.startsWith('drill'))).toBe(false);
});
