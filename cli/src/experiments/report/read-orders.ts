import type { OutcomeTone } from '../../report/page-data.ts';
import type { OrderRecord } from '../journal-records.ts';
import type { OrderReport } from './run-report.ts';

/** Each order once, from its `invoke` and its end, in the order they were placed. */
export function readOrders(records: readonly OrderRecord[]): readonly OrderReport[] {
  const invoked = new Map<number, OrderRecord>();
  const ended = new Map<number, OrderRecord>();
  for (const record of records) (record.state === 'invoke' ? invoked : ended).set(record.op, record);
  const ops = [...new Set([...invoked.keys(), ...ended.keys()])];
  return ops.map((op) => orderOf(op, invoked.get(op), ended.get(op))).sort((a, b) => a.placedMs - b.placedMs);
}

function orderOf(op: number, invoked: OrderRecord | undefined, ended: OrderRecord | undefined): OrderReport {
  const any = invoked ?? ended;
  const tookMs = ended === undefined ? undefined : (ended.tookMs ?? ended.ms - (invoked?.ms ?? ended.ms));
  return {
    op,
    step: any?.step ?? '',
    phase: any?.phase ?? '',
    placedMs: invoked?.ms ?? (ended?.ms ?? 0) - (tookMs ?? 0),
    tookMs,
    ...outcomeOf(ended),
    orderId: ended?.orderId,
    traceId: ended?.traceId ?? invoked?.traceId,
  };
}

function outcomeOf(ended: OrderRecord | undefined): { outcome: string; tone: OutcomeTone } {
  if (ended === undefined) return { outcome: 'not ended', tone: 'lost' };
  const { state, status, reason, http, code } = ended;
  if (state === 'ok' && status === 'Cancelled') return { outcome: `Cancelled: ${reason ?? 'no reason'}`, tone: 'warn' };
  if (state === 'ok') return { outcome: status ?? 'ok', tone: 'good' };
  const words = [http ?? 'no response', code].filter((word) => word !== undefined).join(' ');
  return { outcome: words, tone: state === 'fail' ? 'bad' : 'lost' };
}
