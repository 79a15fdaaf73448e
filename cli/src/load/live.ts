import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { Phase } from '../../../scenarios/lib/scenarios.ts';
import { percentile } from '../shared/statistics.ts';

/** What is looked at for the rate and the latency that are shown, ms. */
const WINDOW_MS = 10_000;

/** A load as it goes on. */
export interface LiveState {
  readonly elapsedMs: number;
  readonly durationMs: number;
  readonly phase: string;
  readonly sent: number;
  readonly unexpected: number;
  /** Of the last ten seconds. */
  readonly perSecond: number;
  readonly p95Ms: number | undefined;
}

/** Counts what comes in; the newest ten seconds are kept. */
export class LiveCount {
  readonly #phases: readonly Phase[];
  #recent: { readonly endedAt: number; readonly tookMs: number }[] = [];
  #sent = 0;
  #unexpected = 0;
  #startedAt: number | undefined;

  constructor(phases: readonly Phase[]) {
    this.#phases = phases;
  }

  add(records: readonly OrderRecord[]): void {
    for (const { at, tookMs, expected } of records) {
      this.#startedAt = Math.min(this.#startedAt ?? at, at);
      this.#recent.push({ endedAt: at + tookMs, tookMs });
      this.#sent++;
      if (!expected) this.#unexpected++;
    }
  }

  /** `nowMs` since 1970, as records have it. */
  state(nowMs: number): LiveState {
    const startedAt = this.#startedAt ?? nowMs;
    this.#recent = this.#recent.filter(({ endedAt }) => endedAt > nowMs - WINDOW_MS);
    const elapsedMs = nowMs - startedAt;
    const windowMs = Math.min(WINDOW_MS, elapsedMs);
    const times = this.#recent.map(({ tookMs }) => tookMs);
    return {
      elapsedMs,
      durationMs: Math.max(...this.#phases.map(({ startS, durationS }) => startS + durationS)) * 1000,
      phase: this.#phases.findLast(({ startS }) => startS * 1000 <= elapsedMs)?.name ?? '',
      sent: this.#sent,
      unexpected: this.#unexpected,
      perSecond: windowMs < 500 ? 0 : Math.round((this.#recent.length / windowMs) * 10_000) / 10,
      p95Ms: percentile(times, 0.95),
    };
  }
}

/** `step-3 24/100 s  59.8 orders/s  p95 214 ms  1,204 sent  2 errors  outbox 12  CPU 84 %` */
export function describeLive(
  { phase, elapsedMs, durationMs, perSecond, p95Ms, sent, unexpected }: LiveState,
  more: { readonly pending: number | undefined; readonly machinePercent: number | undefined },
): string {
  const seconds = `${Math.floor(Math.min(elapsedMs, durationMs) / 1000)}/${durationMs / 1000} s`;
  const parts = [
    `${phase === 'whole' ? '' : `${phase} `}${seconds}`,
    `${perSecond} orders/s`,
    p95Ms === undefined ? '' : `p95 ${Math.round(p95Ms)} ms`,
    `${sent} sent`,
    unexpected === 0 ? '' : `${unexpected} errors`,
    more.pending === undefined ? '' : `outbox ${more.pending}`,
    more.machinePercent === undefined ? '' : `CPU ${Math.round(more.machinePercent)} %`,
  ];
  return parts.filter((part) => part !== '').join('  ');
}
