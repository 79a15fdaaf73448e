import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { parseAdmissionSettings } from './admission-settings.ts';
import { messageOf } from './failures.ts';
import { followFile } from './follow-file.ts';
import type { Logger } from './logger.ts';
import { ProblemError } from './problems.ts';

/** Refuses the share of new orders that an operator has chosen. */
export interface LoadShedding extends Disposable {
  /**
   * Throws ProblemError `order_shed`. `key` is the Idempotency-Key of the order, where it has one. Call what it returns when
   * the order was not taken after all: its retry is a new order then.
   */
  admit(key: string | undefined): () => void;
}

/** How many keys are remembered at least; the oldest half is dropped at twice as many. A key takes some 40 bytes. */
const REMEMBERED_KEYS = 10_000;

/**
 * The share is read from a file, and again when it changes; without a file nothing is shed. A file that cannot be read
 * changes nothing and is logged.
 *
 * Which orders are shed follows from the key: a client that repeats a shed order is refused again, so that retries do not
 * make the share smaller. An order without a key is shed at random. A key that was admitted before is admitted again: its
 * order may have been taken, and the client asks what became of it.
 */
export function openLoadShedding(
  file: string | undefined,
  logger: Logger,
  { random = Math.random, rememberedKeys = REMEMBERED_KEYS } = {},
): LoadShedding {
  if (file === undefined) return { admit: () => () => undefined, [Symbol.dispose]: () => undefined };
  const admitted = createMemory(rememberedKeys);
  let percent = 0;

  function load(path: string): void {
    try {
      const now = existsSync(path) ? parseAdmissionSettings(readFileSync(path, 'utf8')).shedPercent : 0;
      // The watcher also reports a missing file, and one that was rewritten without a change.
      if (now === percent) return;
      percent = now;
      logger.info({ shedPercent: percent }, 'the share of orders that are shed changed');
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'the share of orders that are shed stays as it was');
    }
  }

  load(file);
  const following = followFile(file, () => load(file));
  return {
    admit(key) {
      const place = key === undefined ? undefined : placeOf(key);
      if (place !== undefined && admitted.has(place)) return () => undefined;
      if ((place ?? random()) * 100 < percent) {
        throw new ProblemError('order_shed', 'the shop takes only a part of the new orders at the moment');
      }
      if (place === undefined) return () => undefined;
      admitted.add(place);
      return () => admitted.delete(place);
    },
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

/** A number in [0, 1) that follows from the key alone, spread evenly whatever keys look like. */
function placeOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE(0) / 2 ** 32;
}

/** The last `least` to `2 * least` numbers that were added. */
function createMemory(least: number) {
  let recent = new Set<number>();
  let older = new Set<number>();
  return {
    has: (number: number) => recent.has(number) || older.has(number),
    add(number: number) {
      recent.add(number);
      if (recent.size < least) return;
      older = recent;
      recent = new Set();
    },
    delete(number: number) {
      recent.delete(number);
      older.delete(number);
    },
  };
}
