import type { Placeholder, PlaceholderName } from '../format/reference-lines.ts';
import type { Operator } from './operator.ts';

/** Why orders are cancelled where nothing is wrong. */
const USUAL_REASONS: readonly (string | null)[] = ['payment declined', 'out of stock'];

/** The newest are looked at. */
const ORDERS = '60';
/** Longer than any round has lasted before its last placeholder. */
const RECENT = '15m';

/** What a placeholder stands for now: words; undefined where there is nothing yet. Rejects where a look fails. */
export async function resolvePlaceholder(
  { name, of, prefix }: Placeholder,
  operator: Operator,
): Promise<readonly string[] | undefined> {
  const found = await LOOKS[name](operator, of);
  return found.length === 0 ? undefined : found.map((one) => `${prefix}${one}`);
}

type Look = (operator: Operator, of: string | undefined) => Promise<readonly string[]>;

const LOOKS: Readonly<Record<PlaceholderName, Look>> = {
  /** The trace of an order that failed: the database has it, or else a log line, also where the database does not respond. */
  async failed(operator) {
    const orders = ordersOf(operator);
    const failed = await orders.then(
      (all) => all.filter((order) => order.traceId !== null && isFailed(order)),
      () => [], // Rejects again below, where there is no log line either.
    );
    if (failed.length > 0) {
      const settled = failed.find(isSettled);
      return settled === undefined ? [] : storedTrace(operator, settled.traceId as string);
    }
    const lines = await documents<LogLine>(operator, ['logs', 'gateway', 'orders', '--since', '30s']);
    const line = lines.findLast(({ level, trace_id }) => TROUBLE.includes(level ?? '') && trace_id !== undefined);
    if (line?.trace_id !== undefined) return storedTrace(operator, line.trace_id);
    await orders;
    return [];
  },

  async slowest(operator) {
    const decided = (await ordersOf(operator)).filter(({ decidedAt, traceId }) => decidedAt !== null && traceId);
    const [slowest] = decided.slice(0, NEWEST).toSorted((a, b) => tookMs(b) - tookMs(a));
    return slowest === undefined ? [] : storedTrace(operator, slowest.traceId as string);
  },

  deploy: (operator) => lastChange(operator, 'deploy'),
  flag: (operator) => lastChange(operator, 'flag'),

  /** The session on which others wait, and which waits on none. */
  async blocker(operator, database = 'orders') {
    const sessions = await sessionsOf(operator, database);
    const blocking = new Set(sessions.flatMap(({ blockedBy }) => blockedBy));
    const root = sessions.find(({ pid, blockedBy }) => blocking.has(pid) && blockedBy.length === 0);
    return root === undefined ? [] : [String(root.pid)];
  },

  /** The application with the most sessions. */
  async largest(operator, database = 'orders') {
    const groups = Map.groupBy(await sessionsOf(operator, database), ({ application }) => application);
    const [largest] = [...groups].toSorted(([, a], [, b]) => b.length - a.length);
    return largest === undefined ? [] : [largest[0]];
  },
};

/** Orders among which the slowest is looked for: an older one may be of before the failure. */
const NEWEST = 20;
const TROUBLE = ['warn', 'error', 'fatal'];

interface Order {
  readonly status: string | null;
  readonly reason: string | null;
  readonly traceId: string | null;
  readonly createdAt: string;
  readonly readAt: string;
  readonly decidedAt: string | null;
}

interface LogLine {
  readonly level?: string;
  readonly trace_id?: string;
}

/** Orders and log lines are there sooner than the spans of their traces. */
async function storedTrace(operator: Operator, id: string): Promise<readonly string[]> {
  return (await operator.run(['trace', 'show', id])).exitCode === 0 ? [id] : [];
}

interface Session {
  readonly pid: number;
  readonly application: string;
  readonly blockedBy: readonly number[];
}

const ordersOf = (operator: Operator) => document<readonly Order[]>(operator, ['order', 'list', '--limit', ORDERS]);

/** Cancelled without a reason of its customer, or open for longer than any order takes. */
function isFailed({ status, reason, createdAt, readAt }: Order): boolean {
  if (status === 'Cancelled') return !USUAL_REASONS.includes(reason);
  return status === null && Date.parse(readAt) - Date.parse(createdAt) > LATE_MS;
}

const LATE_MS = 5_000;

/** Services send spans once a second, each at another time: a trace may have those of stock alone, and is not about orders then. */
const SETTLED_MS = 2_000;

function isSettled({ decidedAt, readAt }: Order): boolean {
  return decidedAt === null || Date.parse(readAt) - Date.parse(decidedAt) >= SETTLED_MS;
}

const tookMs = ({ createdAt, decidedAt }: Order) => Date.parse(decidedAt ?? createdAt) - Date.parse(createdAt);

async function sessionsOf(operator: Operator, database: string): Promise<readonly Session[]> {
  const words = ['ops', 'db', 'sessions', database, '--all'];
  return (await document<{ readonly sessions: readonly Session[] }>(operator, words)).sessions;
}

async function lastChange(operator: Operator, kind: string): Promise<readonly string[]> {
  const words = ['changes', '--since', RECENT];
  const { changes } = await document<{ readonly changes: readonly { readonly id: string; readonly kind: string }[] }>(
    operator,
    words,
  );
  const last = changes.findLast((one) => one.kind === kind);
  return last === undefined ? [] : [last.id];
}

async function document<T>(operator: Operator, words: readonly string[]): Promise<T> {
  return JSON.parse(await outputOf(operator, words)) as T;
}

/** Of a command that writes one document a line. */
async function documents<T>(operator: Operator, words: readonly string[]): Promise<readonly T[]> {
  const lines = (await outputOf(operator, words)).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as T);
}

/** A command that has a verdict, as an audit has, ends with it: what it wrote counts. */
async function outputOf(operator: Operator, words: readonly string[]): Promise<string> {
  const { exitCode, stdout, complaint } = await operator.run(words);
  if (stdout.trim() !== '' || exitCode === 0) return stdout;
  throw new Error(`"${words.join(' ')}" ended with ${exitCode ?? 'its time limit'}: ${complaint}`);
}
