/** What one test file could leave for another in the same process. */
import { vi } from 'vitest';

/** Where `@opentelemetry/api` keeps the tracers, meters, propagator and context manager of a process. */
const OPENTELEMETRY = Symbol.for('opentelemetry.js.api.1');
/** What the kit keeps for its whole process, where a preload that is another bundle finds it too. */
const KITS_OWN = /^shop\./;
/** Set for each file by Vitest and `temporary-folder.ts`. */
const OF_EACH_FILE = /^(TMPDIR|VITEST_.*)$/;

/** Those of signals are left out: libraries add them when they are first loaded. */
const LISTENED = ['uncaughtException', 'unhandledRejection', 'warning'];

/** State by name; a value is compared as text. */
export type ProcessState = Readonly<Record<string, string>>;

export function processState(): ProcessState {
  const variables = Object.entries(process.env).filter(([name]) => !OF_EACH_FILE.test(name));
  const listeners = LISTENED.map((name) => [`listeners of ${name}`, String(process.listenerCount(name))]);
  const ofKit = Object.getOwnPropertySymbols(globalThis)
    .filter(({ description = '' }) => KITS_OWN.test(description))
    .map((key) => [String(key.description), String((globalThis as Record<symbol, unknown>)[key])]);
  const globals = (globalThis as { [OPENTELEMETRY]?: object })[OPENTELEMETRY] ?? {};
  return {
    ...Object.fromEntries(variables.map(([name, value]) => [`variable ${name}`, String(value)])),
    ...Object.fromEntries(listeners),
    ...Object.fromEntries(ofKit.filter(([, value]) => value !== 'undefined')),
    'working folder': process.cwd(),
    'exit code': String(process.exitCode),
    'fake timers': String(vi.isFakeTimers()),
    'OpenTelemetry for the process': Object.keys(globals).toSorted().join(', '),
  };
}

/** One text for each difference, for example `exit code: "undefined" became "1"`; empty when there is none. */
export function changesOf(before: ProcessState, after: ProcessState): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const text = (value: string | undefined) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${text(before[name])} became ${text(after[name])}`);
}
