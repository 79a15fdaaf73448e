import type { ShadowOutcome, ShippedRows } from '@shop/kit/shadow.ts';
import { describe, expect, it } from 'vitest';
import type { RunClock } from '../../shared/clock.ts';
import { LEAST_MESSAGES, type ShadowSource, watchShadow } from './watch-shadow.ts';

const rows: ShippedRows = { inbox: [], shipments: [[1]], parcels: [[1]] };
const never = new AbortController().signal;

function aClock(): RunClock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    date: () => new Date(nowMs),
    async sleep(ms, signal) {
      signal.throwIfAborted();
      nowMs += ms;
    },
  };
}

/** Messages that come one a look, until there are `count`. */
function aSource(count: number, change: (number: number) => Partial<ShadowOutcome> = () => ({})): ShadowSource {
  let looks = 0;
  return {
    async outcomesAfter(after) {
      looks += 1;
      const numbers = Array.from({ length: Math.min(looks, count) }, (_, index) => index + 1);
      return numbers
        .filter((number) => number > after)
        .map((number) => ({
          number,
          messageId: `message-${number}`,
          settlement: 'ack',
          written: rows,
          ...change(number),
        }));
    },
    served: async (ids) => new Map(ids.map((id) => [id, rows])),
  };
}

const watch = (source: ShadowSource, keepMs = 60_000) => watchShadow(source, { keepMs, clock: aClock() }, never);

describe('a release in the shadow', () => {
  it('passes with enough messages that are the same', async () => {
    expect(await watch(aSource(LEAST_MESSAGES))).toBe(
      `${LEAST_MESSAGES} messages: each would have written what was written`,
    );
  });

  it('fails at the first difference', async () => {
    const source = aSource(50, (number) => (number === 7 ? { settlement: 'dead-letter' } : {}));
    await expect(watch(source)).rejects.toMatchObject({
      why: { kind: 'guard', guard: 'shadow', text: expect.stringContaining('message-7') },
    });
  });

  it.each([
    ['too few messages', aSource(LEAST_MESSAGES - 1), '19 messages were compared, and 20 are needed'],
    [
      'a message that nothing can be compared with',
      aSource(30, (number) => (number === 3 ? { settlement: 'unreceived' } : {})),
      '(1 of 30 messages)',
    ],
  ])('is unknown with %s', async (_what, source, text) => {
    await expect(watch(source)).rejects.toMatchObject({
      why: { kind: 'evidence', text: expect.stringContaining(text) },
    });
  });

  it('looks at least once more when its time is over', async () => {
    await expect(watch(aSource(1), 0)).rejects.toMatchObject({ why: { text: expect.stringContaining('1 messages') } });
  });
});
