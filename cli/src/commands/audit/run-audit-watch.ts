import { RECENT_INVARIANTS } from '../../audit/recent.ts';
import type { CommandDeps } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { AUDIT_EVERY_MS, watchAudit } from '../../monitoring/audit-client.ts';
import type { AuditEvent } from '../../monitoring/audit-meter.ts';
import type { AuditCommandOptions } from './run-audit.ts';

/** Two looks a second would load the databases that are looked at. */
const MIN_EVERY_MS = 1_000;

/**
 * Prints each new violation among recent orders once. Ends with Ctrl-C, or after `--for` and at least one look: then with 1 after a
 * violation, and with 5 when an invariant was unknown at the last look.
 */
export async function runAuditWatch(
  options: AuditCommandOptions,
  others: readonly string[],
  deps: CommandDeps,
): Promise<void> {
  const everyMs = intervalOf(options, others);
  const { output, signal } = deps;
  const project = deps.projectFrom(options);
  await deps.connect(project);
  const ids = RECENT_INVARIANTS.map(({ id }) => id).join(', ');
  output.note(`watching ${ids} of orders older than 30 s, every ${everyMs / 1_000} s; Ctrl-C ends it`);
  const limit = new AbortController();
  const over = AbortSignal.any([signal, limit.signal]);
  let isViolated = false;
  let isTimeOver = false;
  let unknown: Readonly<Record<string, string>> | undefined;
  // There is one look in any case: without it nothing was checked.
  const endSoon = () => {
    isTimeOver = true;
    if (unknown !== undefined) limit.abort();
  };
  const timer = options.for === undefined ? undefined : setTimeout(endSoon, options.for);
  try {
    for await (const event of watchAudit(project, everyMs, over)) {
      if (event.type === 'violation') {
        isViolated = true;
        output.record(event, () => describeViolation(event, deps));
      } else {
        sayUnknown(event.unknown, unknown ?? {}, deps);
        unknown = event.unknown;
        if (isTimeOver) limit.abort();
      }
    }
    throw new CliError({
      code: 'platform_not_running',
      what: 'the audit ended with the platform',
      next: 'start it with "shopctl up"',
    });
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  const isUnknown = Object.keys(unknown ?? {}).length > 0;
  process.exitCode = isViolated ? exitCodes.failed : isUnknown ? exitCodes.unknown : exitCodes.ok;
}

/** Throws CliError (2) for options that a watch does not have. */
function intervalOf({ watch, every = AUDIT_EVERY_MS }: AuditCommandOptions, others: readonly string[]): number {
  if (!watch) {
    throw new CliError({
      code: 'invalid_usage',
      what: '--every and --for need --watch',
      why: 'an audit without it looks once',
      next: 'add --watch, or leave them out',
    });
  }
  if (others.length > 0) {
    const names = others.map((name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    throw new CliError({
      code: 'invalid_usage',
      what: `--watch cannot be combined with ${names.join(', ')}`,
      why: 'a watch looks at recent orders only, and waits for nothing',
      next: 'leave one of them out',
    });
  }
  if (every >= MIN_EVERY_MS) return every;
  throw new CliError({
    code: 'invalid_usage',
    what: `--every is ${every} ms`,
    why: 'each look reads all databases',
    next: 'give 1s or more',
  });
}

function describeViolation(
  event: AuditEvent & { readonly type: 'violation' },
  { output: { style } }: CommandDeps,
): string {
  const { time, invariant, kind, orderId, subject, detail } = event;
  const about = orderId ?? subject ?? '';
  return `${style.dim(time.slice(11, 19))} ${style.red(invariant)} ${kind.padEnd(10)} ${about}  ${detail}`;
}

/** What became unknown, once. */
function sayUnknown(
  now: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  { output }: CommandDeps,
): void {
  for (const [id, reason] of Object.entries(now)) {
    if (before[id] === undefined) output.warn(`${id} is unknown: ${reason}`);
  }
  for (const id of Object.keys(before)) if (now[id] === undefined) output.note(`${id} is checked again`);
}
