import type { WrittenFault } from '../chaos/written-fault.ts';
import { formatBytes } from '../output/units.ts';
import type { LoadCheck } from './checks.ts';
import type { LoadResult } from './result.ts';
import type { Usage } from './usage.ts';

/**
 * What a process may gain in the second half of a soak, by its slope, bytes. So a longer soak finds smaller leaks, and
 * in one of ten minutes this is 6.4 MB a minute. A service that has just been started gains up to 60 MB in its first
 * ten minutes (docs/benchmarks/2026-11.md), less than half of it in the second five.
 */
const ALLOWED_GROWTH_BYTES = 32 * 1024 ** 2;
/** In a shorter half the start has not levelled off, minutes. A sample a second may come late: a little less will do. */
const MIN_HALF_MINUTES = 5;
const SLACK_MINUTES = 0.1;

/** They generate load and measure; only the platform is checked. */
const NOT_OF_THE_PLATFORM = ['k6', 'shopctl'];

/**
 * Those that keep what they are sent up to a bound, and what they take once it is reached, bytes: until then growing is their
 * work. The supervisor has 64 MB of traces in their wire form, metrics and logs: 290 MB measured when full. Jaeger has the
 * newest 5,000 traces, about 60 KB each (providers/jaeger-config.ts), and Go's collector lets a heap double.
 */
const FILLS_UP_TO: Readonly<Record<string, number>> = { supervisor: 350 * 1024 ** 2, jaeger: 700 * 1024 ** 2 };

export interface CheckedMemory {
  readonly checks: readonly LoadCheck[];
  /** What was not checked, and why. */
  readonly notChecked: readonly string[];
}

export interface Soak {
  readonly durationS: number;
  readonly faults: readonly Pick<WrittenFault, 'target' | 'fault'>[];
}

/**
 * Whether each process of a soak has levelled off: the slope of its memory over the second half of the run. One that was not
 * there all the time, or could not be read, is missing evidence, unless a fault of the run was aimed at it.
 */
export function checkMemory(usage: LoadResult['usage'], { durationS, faults }: Soak): CheckedMemory {
  if (durationS < 2 * MIN_HALF_MINUTES * 60) return { checks: [], notChecked: [`how memory grew: ${MIN_LENGTH}`] };
  const processes = (usage?.processes ?? []).filter(({ name }) => !NOT_OF_THE_PLATFORM.includes(name));
  if (processes.length === 0)
    return { checks: [unknown('the platform', 'its processes could not be looked at')], notChecked: [] };
  const checked = processes.map((process) => checkOne(process, faults));
  return {
    checks: checked.filter((one) => typeof one !== 'string'),
    notChecked: checked.filter((one) => typeof one === 'string'),
  };
}

const MIN_LENGTH = `that takes ${2 * MIN_HALF_MINUTES} min, of which the first half is warm-up`;

/** A text: why it is not to be checked. */
function checkOne(process: Usage, faults: Soak['faults']): LoadCheck | string {
  const { name } = process;
  const why = whyNotKnown(process);
  if (why === undefined) return isFilling(process) ? whyFilling(process) : check(process);
  const aimed = faults.find(({ target }) => target === name || name.startsWith(`${target}-`));
  return aimed === undefined
    ? unknown(name, why)
    : `how the memory of ${name} grew: ${why}, and ${aimed.fault} was aimed at ${aimed.target}`;
}

function unknown(name: string, evidence: string): LoadCheck {
  return { group: 'memory', name: nameOf(name), verdict: 'unknown', evidence };
}

function nameOf(process: string): string {
  return `${process} has levelled off`;
}

/** Why nothing can be said of its second half; undefined when something can. */
function whyNotKnown({ memory }: Usage): string | undefined {
  if (memory === null) return 'its memory could not be read';
  const { restarts, unseenMinutes, slopeMinutes } = memory;
  if (restarts > 0) return `it was restarted in the run, times: ${restarts}`;
  if (unseenMinutes > SLACK_MINUTES) return `it was not seen in the last ${unseenMinutes.toFixed(1)} min`;
  if (slopeMinutes >= MIN_HALF_MINUTES - SLACK_MINUTES) return undefined;
  return `its second half was seen for ${slopeMinutes.toFixed(1)} min: ${MIN_LENGTH}`;
}

function check({ name, memory }: Usage): LoadCheck {
  const { slopeMinutes = 0, lastBytes = 0 } = memory ?? {};
  const grown = growthOf(memory);
  const perMinute = `${(grown / slopeMinutes / 1024 ** 2).toFixed(2)} MB a minute`;
  return {
    group: 'memory',
    name: nameOf(name),
    verdict: grown <= ALLOWED_GROWTH_BYTES ? 'pass' : 'fail',
    evidence: `${perMinute} over the last ${slopeMinutes.toFixed(1)} min, now ${formatBytes(lastBytes)}; at most ${formatBytes(ALLOWED_GROWTH_BYTES)} in that time`,
  };
}

/** Bytes that the slope makes of its time. */
function growthOf(memory: Usage['memory']): number {
  return (memory?.slopeBytesPerMinute ?? 0) * (memory?.slopeMinutes ?? 0);
}

function isFilling({ name, memory }: Usage): boolean {
  return growthOf(memory) > ALLOWED_GROWTH_BYTES && (memory?.lastBytes ?? 0) < (FILLS_UP_TO[name] ?? 0);
}

function whyFilling({ name, memory }: Usage): string {
  const now = formatBytes(memory?.lastBytes ?? 0);
  return `how the memory of ${name} grew: it fills up to ${formatBytes(FILLS_UP_TO[name] ?? 0)} and has ${now}`;
}
