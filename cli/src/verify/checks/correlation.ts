import { readLogsOfTrace } from '../../shop/order-logs.ts';
import { type Check, EvidenceMissing, expectThat } from '../check.ts';
import { until } from '../until.ts';

/** Who writes a line at info for every order; the others are silent while all goes well. */
const WRITES_ALWAYS = ['gateway', 'orders'];
/** A line is written when the answer is; its file is appended to by another process. In ms. */
const LIMIT_MS = 3_000;

/** Log lines carry the trace id of the request they belong to. */
export const correlation: Check = {
  id: 'correlation',
  title: 'logs carry the trace id',
  async run({ project, confirmed, declined, signal }) {
    const answers = await Promise.allSettled([confirmed.answer(), declined.answer()]);
    const traceIds = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.traceId : null));
    const known = traceIds.filter((id) => id !== null);
    if (known.length === 0) throw new EvidenceMissing('no answer had a trace id');
    const found = await Promise.all(known.map((id) => linesOf(project.logDir, id, signal)));
    const missing = found.flatMap(({ traceId, silent }) => silent.map((service) => `${service} for ${traceId}`));
    expectThat(missing.length === 0, {
      expected: `a line of ${WRITES_ALWAYS.join(' and ')} with each trace id`,
      got: `none of ${missing.join(', ')}`,
    });
    const lines = found.reduce((sum, { count }) => sum + count, 0);
    return `${lines} lines of ${[...new Set(found.flatMap(({ services }) => services))].join(', ')} for ${known.length} traces`;
  },
};

interface Found {
  readonly traceId: string;
  readonly count: number;
  readonly services: readonly string[];
  readonly silent: readonly string[];
}

async function linesOf(logDir: string, traceId: string, signal: AbortSignal): Promise<Found> {
  let found: Found = { traceId, count: 0, services: [], silent: WRITES_ALWAYS };
  await until(
    async () => {
      const lines = await readLogsOfTrace(logDir, traceId);
      const services = [...new Set(lines.map(({ instance }) => instance.replace(/-\d+$/, '')))];
      const silent = WRITES_ALWAYS.filter((name) => !services.includes(name));
      found = { traceId, count: lines.length, services, silent };
      return silent.length === 0 ? true : undefined;
    },
    { everyMs: 100, limitMs: LIMIT_MS, signal },
  );
  return found;
}
