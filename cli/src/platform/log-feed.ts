import { statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { serviceNames } from '../topology/services.ts';
import { type LineCursor, logFiles, openLines } from './log-reader.ts';

const FEED_EVERY_MS = 250;

/**
 * Hands each new log line of the services to the telemetry store, where it is found by its trace. What was logged
 * before is left out. Children write their files themselves, so this is the only way their lines pass through us.
 */
export function feedLogs(logDir: string, take: (line: string) => void): { end(): void } {
  const began = new Map<string, number>();
  const cursors = new Map<string, LineCursor>();
  let isReading = false;
  let isFirst = true;
  const read = async () => {
    for (const instance of await logFiles(logDir, serviceNames)) {
      const file = join(logDir, `${instance}.log`);
      if (isFirst) began.set(file, statSync(file).size);
      const cursor = cursors.get(file) ?? openLines(file, began.get(file) ?? 0);
      cursors.set(file, cursor);
      for (const line of await cursor.read()) take(line);
    }
    isFirst = false;
  };
  const timer = setInterval(() => {
    if (isReading) return;
    isReading = true;
    read()
      .catch((error: unknown) => console.error(`supervisor: reading logs: ${messageOf(error)}`))
      .finally(() => {
        isReading = false;
      });
  }, FEED_EVERY_MS);
  return { end: () => clearInterval(timer) };
}
