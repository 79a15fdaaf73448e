import type { Scenario } from '../format/schema.ts';
import { chained } from '../journal/chain.ts';
import type { DrillEvent, DrillRecord, EndReason } from '../journal/records.ts';
import { commitmentOf, ENVELOPE_VERSION, type Envelope } from '../seal/envelope.ts';

/** Something at a second of a round. */
export type Happening = readonly [second: number, event: DrillEvent];

export interface JournalOptions {
  readonly scenario: Scenario;
  readonly happenings?: readonly Happening[];
  /** Seconds in which half of the orders fail. */
  readonly failing?: readonly (readonly [from: number, to: number])[];
  readonly injectedAt?: number | undefined;
  readonly endsAt?: number;
  readonly ended?: EndReason;
  readonly limitMs?: number;
  readonly envelope?: Partial<Envelope>;
}

/** When the failure of a journal begins, s. */
const INJECTED_AT = 30;

/** The journal of a round at 8 orders a second, in which the failure is injected after 30 s and goes on until the round ends. */
export function aJournal({
  scenario,
  happenings = [],
  endsAt = 400,
  injectedAt = scenario.level === 0 ? undefined : INJECTED_AT,
  failing = injectedAt === undefined ? [] : [[injectedAt, endsAt]],
  ended = 'limit',
  limitMs = 900_000,
  envelope: part = {},
}: JournalOptions): readonly DrillRecord[] {
  const envelope: Envelope = {
    version: ENVELOPE_VERSION,
    catalogDigest: '00',
    build: '0123456789abcdef',
    seed: '7',
    level: scenario.level,
    candidates: [{ id: scenario.id, weight: 1 }],
    scenario,
    schedule: { quietMs: 30_000, decoys: [], loadSeed: '1' },
    nonce: 'ab'.repeat(32),
    ...part,
  };
  const seconds = Array.from({ length: endsAt }, (_, second): Happening => {
    const failed = failing.some(([from, to]) => second >= from && second < to) ? 4 : 0;
    return [second, { type: 'second', sent: 8, good: 8 - failed, failed, slow: 0, overdue: 0 }];
  });
  const start: DrillEvent = {
    type: 'start',
    version: 'shop.drill-journal/v1',
    rubric: 'v1',
    commitment: commitmentOf(envelope),
    level: scenario.level,
    strength: 'practice',
    isSeedKnown: false,
    limitMs,
    hints: true,
    trainee: 'ada',
  };
  const withheld: DrillEvent[] =
    injectedAt === undefined
      ? []
      : [
          { type: 'injected', index: 0, happenedMs: injectedAt * 1000 },
          { type: 'witnessed', index: 0, evidence: 'a canary was refused', happenedMs: injectedAt * 1000 },
        ];
  const end: Happening[] = [
    { type: 'end', why: ended, reason: 'the time was over' } as const,
    { type: 'reveal', envelope } as const,
    ...withheld,
  ].map((event): Happening => [endsAt, event]);
  const all = [[0, start] as const, ...[...seconds, ...happenings].toSorted((a, b) => a[0] - b[0]), ...end];
  return withClosing(all);
}

function withClosing(all: readonly Happening[]): readonly DrillRecord[] {
  const records: DrillRecord[] = [];
  const add = (second: number, event: DrillEvent) => {
    const ms = second * 1000;
    const at = new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    records.push(chained(event, { ms, at }, records.at(-1)));
  };
  for (const [second, event] of all) add(second, event);
  add(all.at(-1)?.[0] ?? 0, { type: 'closed', records: records.length + 1 });
  return records;
}
