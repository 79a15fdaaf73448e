import type { Guard, PageBurn, Symptom } from './burns.ts';

/**
 * What the load's clients got in one second. Responses of 4xx are the client's own and do not count for availability; `failed` is of
 * those that count, `slow` of all.
 */
export type Second = readonly [responses: number, counted: number, failed: number, slow: number];

/** Confirmed orders, and what became of their shipments. */
export interface Shipments {
  readonly confirmed: number;
  /** Shipped later than 15 s after the confirmation. */
  readonly late: number;
  /** Not shipped when the pair ended. */
  readonly missing: number;
}

/** Everything that the load's own record has of a pair. */
export interface CustomerRecord {
  /** From the start of the load, second by second. */
  readonly seconds: readonly Second[];
  /** Undefined where the database of shipments could not be read. */
  readonly shipments?: Shipments | undefined;
}

export interface CustomersHit {
  /** Undefined: it is not known. */
  readonly isHit: boolean | undefined;
  /** What they noticed, or that it was nothing. */
  readonly evidence: string;
}

/**
 * Whether customers noticed a fault, by the load's own record. They did where the share of failed or slow responses was above that of
 * a burn rate that pages. They also did where a confirmed order had no shipment in time. Alerts have no part in it. Pure.
 */
export function customersHit(record: CustomerRecord, burns: readonly PageBurn[], guard: Guard): CustomersHit {
  const evidence = [
    ...burns.flatMap((burn) => {
      const second = firstSecondOf(burn, record.seconds, guard);
      return second === undefined ? [] : [`${describeBurn(burn)} after ${second} s`];
    }),
    ...describeShipments(record.shipments),
  ];
  if (evidence.length > 0) return { isHit: true, evidence: evidence.join('; ') };
  if (record.shipments === undefined) return { isHit: undefined, evidence: 'the shipments could not be read' };
  return { isHit: false, evidence: describeLeast(record.seconds) };
}

/** When both windows of a burn rate were above its share; seconds since the start. Undefined: never. Pure. */
export function firstSecondOf(burn: PageBurn, seconds: readonly Second[], guard: Guard): number | undefined {
  const index = seconds.findIndex((_, at) => {
    const long = countIn(seconds, burn.symptom, { end: at + 1, lengthS: burn.longS });
    const short = countIn(seconds, burn.symptom, { end: at + 1, lengthS: burn.shortS });
    const isBelieved = long.total >= guard.requests && long.bad >= guard.bad;
    return isBelieved && long.bad > burn.share * long.total && short.bad > burn.share * short.total;
  });
  return index < 0 ? undefined : index + 1;
}

/** Of all responses between two seconds; undefined where there were none that count. Pure. */
export function failedShare(seconds: readonly Second[], from: number, to: number): number | undefined {
  const { bad, total } = countIn(seconds, 'failed', { end: to, lengthS: to - from });
  return total === 0 ? undefined : bad / total;
}

function countIn(
  seconds: readonly Second[],
  symptom: Symptom,
  { end, lengthS }: { readonly end: number; readonly lengthS: number },
): { readonly bad: number; readonly total: number } {
  let bad = 0;
  let total = 0;
  for (const [responses, counted, failed, slow] of seconds.slice(Math.max(0, end - lengthS), end)) {
    bad += symptom === 'failed' ? failed : slow;
    total += symptom === 'failed' ? counted : responses;
  }
  return { bad, total };
}

function describeBurn({ symptom, share, longS }: PageBurn): string {
  return `more than ${percent(share)} ${symptom} in ${longS} s`;
}

function describeShipments(shipments: Shipments | undefined): readonly string[] {
  if (shipments === undefined || shipments.late + shipments.missing === 0) return [];
  const { late, missing, confirmed } = shipments;
  return [`${late} shipments late, ${missing} missing, of ${confirmed}`];
}

/** How far it was from being noticed. */
function describeLeast(seconds: readonly Second[]): string {
  const sum = (index: 1 | 2 | 3 | 0) => seconds.reduce((total, second) => total + second[index], 0);
  return `${sum(2)} failed and ${sum(3)} slow of ${sum(0)}, all shipped in time`;
}

function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}
