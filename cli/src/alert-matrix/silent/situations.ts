import { CliError } from '../../errors.ts';
import { suggestName } from '../../shared/suggest-name.ts';

/** Which orders come. `declines`: three of ten are declined or out of stock. */
export type OrderMix = 'mixed' | 'declines';

/** What is done to the platform while orders come. */
export type Disturbance = 'restart each service' | 'restart all services' | 'suspend';

/** A time with orders at one rate. */
export interface Part {
  readonly forMs: number;
  /** Orders a second; 0: none. */
  readonly rate: number;
  readonly mix?: OrderMix;
  readonly meanwhile?: Disturbance;
}

/** Something that must not page. */
export interface Situation {
  readonly name: string;
  readonly parts: readonly Part[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Orders a second, unless the situation is about the rate. */
const RATE = 10;
/** No part becomes shorter by `--scale`: with less, rules have no window in which to be wrong. */
const SHORTEST_MS = 10 * SECOND;
const RAMP_STEPS = 10;
/** Of the rate up to which the platform keeps its response times. */
const RAMP_SHARE = 0.8;

const steady = (forMs: number): Part => ({ forMs, rate: RATE });
const quiet = (forMs: number): Part => ({ forMs, rate: 0 });
const resets: readonly Part[] = [
  steady(2 * MINUTE),
  { forMs: 30 * SECOND, rate: 0, meanwhile: 'restart all services' },
  steady(2 * MINUTE),
];

/** About two hours. `knee` in orders a second: only with it there is the ramp. */
function situations(knee: number | undefined): readonly Situation[] {
  return [
    { name: 'steady', parts: [steady(30 * MINUTE)] },
    { name: 'declines', parts: [{ forMs: 10 * MINUTE, rate: RATE, mix: 'declines' }] },
    { name: 'spike', parts: [steady(MINUTE), { forMs: 10 * SECOND, rate: 10 * RATE }, steady(2 * MINUTE)] },
    ...(knee === undefined ? [] : [{ name: RAMP, parts: ramp(knee) }]),
    { name: 'rolling restarts', parts: [{ forMs: 10 * MINUTE, rate: RATE, meanwhile: 'restart each service' }] },
    { name: 'cold start', parts: [quiet(MINUTE), steady(2 * MINUTE)] },
    { name: 'idle', parts: [quiet(20 * MINUTE)] },
    { name: 'low traffic', parts: [{ forMs: 20 * MINUTE, rate: 1 / 60, mix: 'declines' }] },
    { name: 'counter resets', parts: [...resets, ...resets.slice(1)] },
    {
      name: 'suspended',
      parts: [steady(MINUTE), { forMs: 10 * MINUTE, rate: 0, meanwhile: 'suspend' }, steady(2 * MINUTE)],
    },
  ];
}

const RAMP = 'ramp';

function ramp(knee: number): readonly Part[] {
  return Array.from({ length: RAMP_STEPS }, (_, step) => {
    return { forMs: MINUTE, rate: Math.round((RAMP_SHARE * knee * (step + 1) * 10) / RAMP_STEPS) / 10 };
  });
}

export interface SituationSelection {
  /** Names; empty or absent: all. */
  readonly only?: readonly string[] | undefined;
  /** What durations are multiplied by. */
  readonly scale: number;
  /** Orders a second. */
  readonly knee?: number | undefined;
}

export interface SituationPlan {
  readonly situations: readonly Situation[];
  /** What is left out because a rate was not given. */
  readonly leftOut: readonly string[];
}

/** Throws CliError (2) for a name that there is not, and for the ramp without a knee. Pure. */
export function planSituations({ only = [], scale, knee }: SituationSelection): SituationPlan {
  const all = situations(knee);
  const names = [...all.map(({ name }) => name), ...(knee === undefined ? [RAMP] : [])];
  for (const name of only) if (!names.includes(name)) throw noSuch(name, names);
  if (knee === undefined && only.includes(RAMP)) throw noKnee();
  const isChosen = (name: string) => only.length === 0 || only.includes(name);
  const chosen = all.filter(({ name }) => isChosen(name));
  return {
    situations: chosen.map((one) => ({ ...one, parts: one.parts.map((part) => scaled(part, scale)) })),
    leftOut: knee === undefined && isChosen(RAMP) ? [RAMP] : [],
  };
}

function noSuch(name: string, known: readonly string[]): CliError {
  const nearest = suggestName(name, known);
  return new CliError({
    code: 'unknown_situation',
    what: `the list has no situation "${name}"${nearest ? `, did you mean "${nearest}"?` : ''}`,
    next: `situations are ${known.join(', ')}`,
  });
}

function noKnee(): CliError {
  return new CliError({
    code: 'invalid_usage',
    what: `${RAMP} needs --knee, the orders a second up to which response times hold`,
    next: 'find it by "shopctl load run ramp" on the running platform',
  });
}

function scaled(part: Part, scale: number): Part {
  const least = Math.min(SHORTEST_MS, part.forMs);
  return { ...part, forMs: Math.max(least, Math.round(part.forMs * scale)) };
}

/** Pure. */
export function durationOf({ parts }: Situation): number {
  return parts.reduce((sum, { forMs }) => sum + forMs, 0);
}

/** Whether its orders would be slow, or fail, beside those of other platforms. Pure. */
export function needsMachine({ parts }: Situation): boolean {
  return parts.some(({ rate }) => rate > RATE);
}

/** Situations that are measured at the same time, on so many platforms. */
export interface Pass {
  readonly situations: readonly Situation[];
  readonly platforms: number;
}

/** Those that need the machine come last, one after the other. Pure. */
export function passesOf(situations: readonly Situation[], platforms: number): readonly Pass[] {
  const { shared = [], alone = [] } = Object.groupBy(situations, (one) => (needsMachine(one) ? 'alone' : 'shared'));
  return [
    { situations: shared, platforms: Math.min(platforms, shared.length) },
    { situations: alone, platforms: 1 },
  ].filter((pass) => pass.situations.length > 0);
}

/** How long the platform does not run at all, ms. Pure. */
export function suspendedMs({ parts }: Situation): number {
  return parts.reduce((sum, { forMs, meanwhile }) => sum + (meanwhile === 'suspend' ? forMs : 0), 0);
}
