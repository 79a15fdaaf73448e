import type { Scenario } from '../format/schema.ts';
import type { Envelope } from '../seal/envelope.ts';

/** What one surface gave to a trainee. */
export interface SurfaceText {
  /** `status --json`, `GET /metrics`, `file events.jsonl` */
  readonly surface: string;
  readonly text: string;
}

/** Something that shows what a round keeps. */
export interface Leak {
  readonly surface: string;
  /** What was found: `toxic`, `the seed`. */
  readonly what: string;
  /** Around it. */
  readonly excerpt: string;
}

interface Marker {
  readonly what: string;
  readonly pattern: RegExp;
}

/** Words that only what injects faults has. A platform without a drill has none of them. */
const MACHINERY: readonly Marker[] = [
  { what: 'a toxic', pattern: /\btoxics?\b|"toxicity"/i },
  { what: 'an injection', pattern: /\binject(ed|ion|ing)\b|\bchaos\.\w+/i },
  { what: 'a connection of a fault', pattern: /shopctl-chaos/i },
  { what: 'a seeded bug', pattern: /seeded bug|"seededBugs?": ?(\[\s*)?"/i },
  { what: 'a frozen process', pattern: /is frozen|state T\b/ },
  { what: 'a decoy', pattern: /\bdecoy\b/i },
];

const AROUND = 60;

/**
 * Everything in these texts that names what a round keeps: the machinery of faults, a fault beside its target in one record, the scenario,
 * its seed and its nonce. Pure.
 */
export function findLeaks(texts: readonly SurfaceText[], envelope: Envelope): readonly Leak[] {
  const markers = [...MACHINERY, ...markersOf(envelope)];
  return texts.flatMap(({ surface, text }) => {
    const found = markers.flatMap(({ what, pattern }) => {
      const match = pattern.exec(text);
      return match === null ? [] : [{ surface, what, excerpt: around(text, match) }];
    });
    return [...found, ...faultsIn(surface, text, envelope.scenario)];
  });
}

function markersOf({ scenario, seed, nonce }: Envelope): readonly Marker[] {
  return [
    { what: 'the scenario', pattern: wordOf(scenario.id) },
    { what: 'the nonce', pattern: wordOf(nonce) },
    ...(seed.length >= LEAST_SEED ? [{ what: 'the seed', pattern: wordOf(seed) }] : []),
    ...scenario.inject.flatMap((one) =>
      one.type === 'release' ? [{ what: 'the bug', pattern: new RegExp(one.bug) }] : [],
    ),
  ];
}

/** A shorter one is found everywhere. */
const LEAST_SEED = 6;

/**
 * The name of a fault in a record that also has its target: a line of text, or the smallest object of a document. What an operation of the
 * trainee reports of the state that it ended is left out: the trainee knew where to look.
 */
function faultsIn(surface: string, text: string, { inject }: Scenario): readonly Leak[] {
  return inject.flatMap((one) => {
    if (one.type !== 'fault') return [];
    const [fault, target] = [wordOf(one.fault), wordOf(one.target)];
    const record = recordsIn(text).find((part) => fault.test(part) && target.test(part) && !OF_AN_OPERATION.test(part));
    if (record === undefined) return [];
    const match = fault.exec(record) as RegExpExecArray;
    return [{ surface, what: `${one.fault} on ${one.target}`, excerpt: around(record, match) }];
  });
}

/** A change of `shopctl ops`, its event, and its record in the round's journal. Nothing that injects writes one. */
const OF_AN_OPERATION = /"(kind|change)": ?"ops"|"type": ?"operation\.done"/;

/** Objects without an object inside, and lines of text. */
function recordsIn(text: string): readonly string[] {
  return [...text.split('\n'), ...(text.match(/\{[^{}]*\}/g) ?? [])].filter((part) => part.length < LONGEST_RECORD);
}

/** A line that is longer is a document, whose objects are records. */
const LONGEST_RECORD = 2_000;

/** A whole word: `down`, not `download`, `slow-down` or `down.sum`. */
function wordOf(text: string): RegExp {
  return new RegExp(`(?<![\\w.-])${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`);
}

function around(text: string, match: RegExpExecArray): string {
  return text
    .slice(Math.max(0, match.index - AROUND), match.index + match[0].length + AROUND)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
