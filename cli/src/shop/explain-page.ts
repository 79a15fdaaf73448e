import { cutText } from '../output/width.ts';
import { wrapText } from '../output/wrap.ts';
import type { LogLine } from '../platform/log-reader.ts';
import { renderTrace } from '../trace/render.ts';
import { diagnose } from './diagnosis.ts';
import { formatMoney } from './money.ts';
import type { OrderEvidence } from './order-evidence.ts';
import { formatFacts, orderFacts, sagaFacts } from './order-page.ts';
import type { OrderTrace } from './order-trace.ts';
import { formatLines, sagaSteps } from './saga-steps.ts';
import { formatSteps, type View } from './steps-table.ts';
import { formatTime } from './times.ts';

export interface Explanation {
  readonly evidence: OrderEvidence;
  readonly trace: OrderTrace | null;
  readonly logs: readonly LogLine[];
}

/** Lines of log on the page; "shopctl logs --trace" has them all. */
const LOG_LINES = 40;
/** Characters of one record; a stack trace is not for this page. */
const LONGEST_RECORD = 400;
/** Continued lines begin under the instance. */
const LOG_INDENT = 13;

/** Everything known about one order on one page, the conclusion first. */
export function formatExplanation({ evidence, trace, logs }: Explanation, view: View): string {
  const { order } = evidence;
  const heading = (text: string) => view.style.bold(text.toUpperCase());
  const sections: [string, string][] = [
    ['response', formatFacts(orderFacts(order), view)],
    ['saga', `${formatFacts(sagaFacts(order), view)}\n\n${formatSteps(sagaSteps(evidence), order.createdAt, view)}`],
    ['records', formatFacts(recordFacts(evidence), view)],
    ['trace', formatTrace(trace, view)],
    ['logs', formatLogs(logs, order.traceId, view)],
  ];
  return [
    view.style.bold(wrapText(diagnose(evidence), view.columns)),
    ...sections.map(([name, text]) => `${heading(name)}\n${text}`),
  ].join('\n\n');
}

/** What each database holds for the order. */
function recordFacts(evidence: OrderEvidence): [string, string][] {
  const { unavailable } = evidence;
  const shipping = unavailable.shipping !== undefined;
  return [
    ['reservation', unavailable.stock === undefined ? reservationText(evidence) : 'unknown'],
    ['payment', unavailable.payments === undefined ? paymentText(evidence) : 'unknown'],
    ...outboxFacts(evidence),
    ['inbox', shipping ? 'unknown' : inboxText(evidence)],
    ['shipment', shipping ? 'unknown' : shipmentText(evidence)],
  ].map(([label = '', text = '']) => [label, text]);
}

function reservationText({ reservation }: OrderEvidence): string {
  if (reservation === null) return 'none';
  const { state, lines, createdAt, releasedAt, insufficientProductIds } = reservation;
  const what =
    state === 'insufficient' ? `too little of product ${insufficientProductIds.join(', ')}` : formatLines(lines);
  const released = releasedAt === null ? '' : `, released ${formatTime(releasedAt)}`;
  return `${state}${what === '' ? '' : ` (${what})`} ${formatTime(createdAt)}${released}`;
}

function paymentText({ payment }: OrderEvidence): string {
  if (payment === null) return 'none';
  const { state, amountKopiykas, currency, updatedAt } = payment;
  const amount = amountKopiykas === null ? '' : ` ${formatMoney(amountKopiykas, currency ?? '')}`;
  return `${state}${amount} ${formatTime(updatedAt)}`;
}

function outboxFacts({ outbox }: OrderEvidence): [string, string][] {
  if (outbox.length === 0) return [['outbox', 'none']];
  return outbox.map(({ id, type, publishedAt }) => [
    'outbox',
    `${type} ${id} ${publishedAt === null ? 'not published' : `published ${formatTime(publishedAt)}`}`,
  ]);
}

function inboxText({ inbox }: OrderEvidence): string {
  return inbox.map(({ messageId, receivedAt }) => `${messageId} ${formatTime(receivedAt)}`).join(' ') || 'none';
}

function shipmentText({ shipment }: OrderEvidence): string {
  return shipment === null
    ? 'none'
    : `${shipment.id} (${formatLines(shipment.lines)}) ${formatTime(shipment.createdAt)}`;
}

function formatTrace(trace: OrderTrace | null, view: View): string {
  if (trace === null) return 'none: the order was placed with telemetry off';
  return [
    ...(trace.spans === 0 ? [] : [renderTrace(trace.tree, view)]),
    ...(trace.note === null ? [] : [trace.note]),
  ].join('\n');
}

function formatLogs(logs: readonly LogLine[], traceId: string | null, view: View): string {
  if (logs.length === 0) return 'none';
  const width = Math.max(...logs.map(({ instance }) => instance.length));
  const indent = ' '.repeat(LOG_INDENT);
  const lines = logs
    .slice(0, LOG_LINES)
    .map((line) => wrapText(cutText(formatLine(line, width), LONGEST_RECORD), view.columns, indent));
  const more = logs.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more: shopctl logs --trace ${traceId}`] : [])].join('\n');
}

/** Fields of a record that the line shows in its own way, or that are the same in every line of the page. */
const SHOWN = new Set([
  'level',
  'time',
  'service',
  'instance',
  'version',
  'track',
  'msg',
  'trace_id',
  'span_id',
  'order_id',
  'pid',
  'hostname',
]);

function formatLine({ instance, record = {}, timeMs }: LogLine, width: number): string {
  const rest = Object.entries(record)
    .filter(([name]) => !SHOWN.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const clock = new Date(timeMs).toISOString().slice(11, 23);
  return [clock, instance.padEnd(width), String(record.level ?? '').padEnd(5), String(record.msg ?? ''), ...rest].join(
    ' ',
  );
}
