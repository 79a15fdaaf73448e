import { randomBytes } from 'node:crypto';
import { DECOYS_FROM_LEVEL, type Scenario } from '../format/schema.ts';
import { canonicalJson, digestOf } from './canonical.ts';
import { type Candidate, type DrawInput, type Drawn, draw, type Schedule } from './draw.ts';

export const ENVELOPE_VERSION = 'shop.drill-envelope/v1';

/** Everything that a round was decided to be, before it began. */
export interface Envelope {
  readonly version: typeof ENVELOPE_VERSION;
  /** Of all scenarios of the clone. */
  readonly catalogDigest: string;
  /** The build of the supervisor. */
  readonly build: string;
  readonly seed: string;
  readonly level: number;
  readonly candidates: readonly Candidate[];
  /** The whole scenario: a score needs no catalog. */
  readonly scenario: Scenario;
  readonly schedule: Schedule;
  /** 32 random bytes, hexadecimal: without them trying all seeds would open the commitment. */
  readonly nonce: string;
}

function catalogDigest(scenarios: readonly Scenario[]): string {
  return digestOf(scenarios.toSorted((a, b) => a.id.localeCompare(b.id)));
}

/** Draws a round and puts it into its envelope. */
export function seal(
  scenarios: readonly Scenario[],
  input: DrawInput & { readonly build: string },
  nonce = randomBytes(32).toString('hex'),
): Envelope {
  const { seed, level, candidates, build } = input;
  return {
    version: ENVELOPE_VERSION,
    catalogDigest: catalogDigest(scenarios),
    build,
    seed,
    level,
    candidates,
    ...draw(scenarios, input),
    nonce,
  };
}

/** SHA-256 of the envelope. It is public from the start of a round. */
export function commitmentOf(envelope: Envelope): string {
  return digestOf(envelope);
}

/** What does not fit between an envelope and the scenarios that it was drawn from; nothing when all does. Pure. */
export function checkEnvelope(envelope: Envelope, scenarios: readonly Scenario[]): readonly string[] {
  const digest = catalogDigest(scenarios);
  if (digest !== envelope.catalogDigest) {
    return [`the scenarios differ: they have the digest ${digest}, the envelope has ${envelope.catalogDigest}`];
  }
  const problems = candidateProblems(envelope, scenarios);
  if (problems.length > 0) return problems;
  const drawn: Drawn = draw(scenarios, envelope);
  return (['scenario', 'schedule'] as const)
    .filter((part) => canonicalJson(drawn[part]) !== canonicalJson(envelope[part]))
    .map((part) => `the ${part} is not the one that seed ${envelope.seed} draws at level ${envelope.level}`);
}

function candidateProblems({ candidates, level }: Envelope, scenarios: readonly Scenario[]): readonly string[] {
  return candidates.flatMap(({ id, weight }) => {
    const scenario = scenarios.find((one) => one.id === id);
    if (scenario === undefined) return [`the candidate ${id} is not in the catalog`];
    if (!(weight > 0)) return [`the candidate ${id} has the weight ${weight}`];
    if (scenario.level !== level && scenario.level !== 0) return [`the candidate ${id} is of another level`];
    return scenario.decoys.length > 0 && level < DECOYS_FROM_LEVEL ? [`the candidate ${id} has decoys`] : [];
  });
}
