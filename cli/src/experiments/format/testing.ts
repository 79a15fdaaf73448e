import { type ReadResult, readExperiment } from './load.ts';
import type { Configuration } from './substitute.ts';

/** Of the tests, so that they read no files. */
const known = {
  contracts: () => new Map([['confirmed', ['POST /orders', 'outbox relay']]]),
  alerts: () => ['OutboxStalled', 'Watchdog'],
};

/** A valid file with `method` and further keys. */
export function fileWith({ method = '- {name: wait, type: hold, for: 1s}', more = '' } = {}): string {
  const indented = method.replaceAll(/^/gm, '  ');
  return `version: shop.chaos/v1\nid: mine\ntitle: An experiment\nwhy: because\nmethod:\n${indented}\n${more}\n`;
}

export function readText(text: string, settings: Configuration = {}): ReadResult {
  return readExperiment(text, { settings, known });
}

/** Problems as they are shown, without the file. */
export function problemsOf(text: string, settings: Configuration = {}): readonly string[] {
  return readText(text, settings).problems.map(
    ({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`,
  );
}
