import { type LogLine, logFiles, readLog } from '../../platform/log-reader.ts';
import { pollFor } from '../../shared/wait-until.ts';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import { readLogsOfTrace } from '../../shop/order-logs.ts';
import { serviceNames } from '../../topology/services.ts';
import type { Check } from '../check.ts';
import { EvidenceMissing, expectThat } from '../check-errors.ts';

/** Who writes a line at info for every order; the others are silent while all goes well, unless they log at debug. */
const WRITES_ALWAYS = ['gateway', 'orders'];
/** And for an order that is confirmed. */
const WRITES_WHEN_CONFIRMED = [...WRITES_ALWAYS, 'shipping'];
/** Fields of lines that are written while a request or an order is handled, and of no others. */
const ABOUT_WORK = ['order_id', 'route'];
/** A line is written when the response is; its file is appended to by another process. In ms. */
const LIMIT_MS = 3_000;
/** A shipment is on its way through outbox and broker first, ms. */
const SHIPPED_LIMIT_MS = 15_000;

/** Log lines carry the trace id of the request they belong to: each of this run's, and each that is about work. */
export const correlation: Check = {
  id: 'correlation',
  name: 'logs carry the trace id',
  async run({ project, confirmed, declined, signal }) {
    const beganAt = Date.now();
    const responses = await Promise.allSettled([confirmed.response(), declined.response()]);
    const wanted = responses.flatMap((response) => (response.status === 'fulfilled' ? wantedOf(response.value) : []));
    if (wanted.length === 0) throw new EvidenceMissing('no response had a trace id');
    const found = await Promise.all(wanted.map((one) => linesOf(project.logDir, one, signal)));
    const missing = found.flatMap(({ traceId, silent }) => silent.map((service) => `${service} for ${traceId}`));
    expectThat(missing.length === 0, {
      expected: `a line of ${WRITES_ALWAYS.join(' and ')} with each trace id, of shipping with that of a confirmed order`,
      observed: `none of ${missing.join(', ')}`,
    });
    const untraced = await untracedLines(project.logDir, beganAt);
    const [first] = untraced;
    expectThat(first === undefined, {
      expected: 'a trace id in every line about a request or an order',
      observed: `${untraced.length} without one, e.g. of ${first?.instance}: ${first?.record?.msg}`,
    });
    const lines = found.reduce((sum, { count }) => sum + count, 0);
    return `${lines} lines of ${[...new Set(found.flatMap(({ services }) => services))].join(', ')} for ${found.length} traces; every line about a request or an order has one`;
  },
};

/** A trace of this run, and whose lines it must have. */
interface Wanted {
  readonly traceId: string;
  readonly services: readonly string[];
  readonly limitMs: number;
}

function wantedOf(response: PlaceResponse): Wanted[] {
  const { traceId } = response;
  if (traceId === null) return [];
  const isShipped = response.kind === 'decided' && response.status === 'Confirmed';
  return isShipped
    ? [{ traceId, services: WRITES_WHEN_CONFIRMED, limitMs: SHIPPED_LIMIT_MS }]
    : [{ traceId, services: WRITES_ALWAYS, limitMs: LIMIT_MS }];
}

interface Found {
  readonly traceId: string;
  readonly count: number;
  readonly services: readonly string[];
  readonly silent: readonly string[];
}

async function linesOf(logDir: string, { traceId, services, limitMs }: Wanted, signal: AbortSignal): Promise<Found> {
  let found: Found = { traceId, count: 0, services: [], silent: services };
  await pollFor(
    async () => {
      const lines = await readLogsOfTrace(logDir, traceId);
      const seen = [...new Set(lines.map(({ instance }) => serviceOf(instance)))];
      const silent = services.filter((name) => !seen.includes(name));
      found = { traceId, count: lines.length, services: seen, silent };
      return silent.length === 0 ? true : undefined;
    },
    { everyMs: 100, limitMs, signal },
  );
  return found;
}

/** Lines of services since then that are about work and do not say of which trace. */
async function untracedLines(logDir: string, since: number): Promise<readonly LogLine[]> {
  const files = await logFiles(logDir, serviceNames);
  const lines = (await Promise.all(files.map((name) => readLog(logDir, name)))).flat();
  return lines.filter(
    ({ record, timeMs }) =>
      record !== undefined &&
      timeMs >= since &&
      ABOUT_WORK.some((field) => field in record) &&
      typeof record.trace_id !== 'string',
  );
}

function serviceOf(instance: string): string {
  return instance.replace(/-\d+$/, '');
}
