import { CliError } from '../errors.ts';
import { durationMs } from '../shared/duration.ts';
import { findFault } from './catalog.ts';

/** A fault in one argument, as `chaos inject` and `load run --chaos` take it. */
export interface WrittenFault {
  readonly target: string;
  readonly fault: string;
  /** Durations as they are written; the fault's own check reads them. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** `orders-payments:latency,latency=400ms`. Throws CliError (2). */
export function parseFault(text: string): WrittenFault {
  const [place = '', ...pairs] = text.split(',');
  const [target = '', name = '', ...more] = place.split(':');
  if (target === '' || name === '' || more.length > 0) throw malformed(text);
  const fault = findFault(name);
  const parameters = Object.fromEntries(
    pairs.map((pair) => {
      const [parameter, ...value] = pair.split('=');
      if (!parameter || value.length !== 1) throw malformed(text);
      return [parameter, plainValue(value[0] as string)];
    }),
  );
  return { target, fault: fault.name, parameters };
}

function malformed(text: string): CliError {
  return new CliError({
    code: 'invalid_fault',
    what: `invalid fault "${text}"`,
    next: 'write TARGET:FAULT[,NAME=VALUE...], like orders-payments:latency,latency=400ms; "shopctl chaos faults" lists them',
  });
}

function plainValue(text: string): string | number {
  return durationMs(text) === undefined && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
