import { formatBytes } from '../output/units.ts';
import type { LoadCheck } from './checks.ts';
import type { LoadResult } from './result.ts';
import type { Usage } from './usage.ts';

/**
 * What a process may gain in the second half of a soak, by its slope, bytes: so a longer soak finds smaller leaks, and in one
 * of ten minutes this is 6.4 MB a minute. A service that has just been started gains up to 60 MB in its first ten minutes
 * (docs/performance.md), less than half of it in the second five.
 */
const ALLOWED_GROWTH_BYTES = 32 * 1024 ** 2;
/** In a shorter half the start has not levelled off, minutes. A sample a second may come late: a little less will do. */
const LEAST_HALF_MINUTES = 5;
const SLACK_MINUTES = 0.1;

/**
 * Those that keep what they are sent up to a bound, and what they take once it is reached, bytes: until then growing is their
 * work. The supervisor has 64 MB of traces in their wire form, metrics and logs: 290 MB measured when full. Jaeger has the
 * newest 5,000 traces, about 60 KB each (providers/jaeger-config.ts), and Go's collector lets a heap double.
 */
const FILLS_UP_TO: Readonly<Record<string, number>> = { supervisor: 350 * 1024 ** 2, jaeger: 700 * 1024 ** 2 };

export interface JudgedMemory {
  readonly checks: readonly LoadCheck[];
  /** What was not judged, and why. */
  readonly notJudged: readonly string[];
}

/** Whether each process of a soak has levelled off: the slope of its memory over the second half of the run. */
export function judgeMemory(usage: LoadResult['usage']): JudgedMemory {
  const measured = (usage?.processes ?? []).filter(({ memory }) => memory !== null);
  if (measured.length === 0) return { checks: [], notJudged: ['how memory grew: it was not measured'] };
  const long = measured.filter((process) => (process.memory?.slopeMinutes ?? 0) >= LEAST_HALF_MINUTES - SLACK_MINUTES);
  const filling = long.filter(isFilling);
  return {
    checks: long.filter((process) => !filling.includes(process)).map(judge),
    notJudged: [...whyShort(measured, long), ...filling.map(whyFilling)],
  };
}

function judge({ name, memory }: Usage): LoadCheck {
  const { slopeMinutes = 0, lastBytes = 0 } = memory ?? {};
  const grown = growthOf(memory);
  const perMinute = `${(grown / slopeMinutes / 1024 ** 2).toFixed(2)} MB a minute`;
  return {
    kind: 'memory',
    name: `${name} has levelled off`,
    outcome: grown <= ALLOWED_GROWTH_BYTES ? 'ok' : 'failed',
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

function whyShort(measured: readonly Usage[], long: readonly Usage[]): readonly string[] {
  const short = measured.filter((process) => !long.includes(process));
  if (short.length === 0) return [];
  const whose = long.length === 0 ? '' : ` of ${short.map(({ name }) => name).join(', ')}, started anew meanwhile`;
  return [`how memory grew${whose}: that takes ${2 * LEAST_HALF_MINUTES} min, of which the first half is warm-up`];
}
