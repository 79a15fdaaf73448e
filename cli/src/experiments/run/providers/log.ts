import { type LogLine, logFiles, readLogSince } from '../../../platform/log-reader.ts';
import type { LogProbe } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin } from '../tolerance.ts';

/** Counts log lines since the run began, or since the end of a step. */
export async function probeLog(
  { provider, tolerance }: LogProbe,
  { platform, baselines }: RunContext,
): Promise<StepResult> {
  const { traced, ...rules } = typeof tolerance === 'object' ? tolerance : { traced: undefined };
  const bound = typeof tolerance === 'object' ? rules : tolerance;
  const hasBound = typeof bound !== 'object' || Object.keys(bound).length > 0;
  const expected = [hasBound ? `${describeTolerance(bound)} lines` : '', traced ? 'each with a trace id' : '']
    .filter((part) => part !== '')
    .join(', ');
  const since = provider.since ?? 'start';
  const ends = baselines.get(since)?.logs;
  if (ends === undefined) return unknown(`when "${since}" was is not known`, { expected });
  const files = await logFiles(platform.project.logDir, [provider.service]);
  if (files.length === 0) return unknown(`${provider.service} has no log`, { expected });
  const read = await Promise.all(
    files.map((file) => readLogSince(platform.project.logDir, file, ends[file] ?? { bytes: 0, head: '' })),
  );
  if (read.includes(undefined)) return unknown('lines since then were lost by log rotation', { expected });
  const found = read.flatMap((lines) => lines ?? []).filter((line) => matches(line, provider));
  // Of no line at all it cannot be said that each has a trace id.
  if (!hasBound && found.length === 0) return unknown('no such line', { expected });
  const untraced = traced ? found.filter(({ record }) => typeof record?.trace_id !== 'string') : [];
  const isHeld = (!hasBound || isWithin(found.length, bound)) && untraced.length === 0;
  return {
    verdict: isHeld ? 'pass' : 'fail',
    expected,
    observed: `${found.length} lines${untraced.length > 0 ? `, ${untraced.length} of them without a trace id` : ''}`,
    // Only messages: lines may hold more than a journal should.
    evidence: (untraced.length > 0 ? untraced : found).slice(0, 3).map(messageIn).join('\n'),
    traceIds: found.flatMap(({ record }) => (typeof record?.trace_id === 'string' ? record.trace_id : [])).slice(0, 20),
  };
}

function matches(line: LogLine, { contains, matches: pattern, level }: LogProbe['provider']): boolean {
  const message = messageIn(line);
  return (
    (contains === undefined || message.includes(contains)) &&
    (pattern === undefined || new RegExp(pattern).test(message)) &&
    (level === undefined || line.record?.level === level)
  );
}

function messageIn({ record, text }: LogLine): string {
  return record === undefined ? text : String(record.msg ?? '');
}
