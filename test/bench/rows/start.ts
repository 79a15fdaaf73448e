import type { Bench } from '../bench.ts';
import type { Summary } from '../rounds.ts';
import type { Section } from '../section.ts';
import { measureStarts, UP_LIMITS } from '../start.ts';

/** (f) `up`, cold and warm, against the broker's own start. */
export async function measureStart(bench: Bench): Promise<Section> {
  const { broker, script, warm, cold } = await measureStarts({ rounds: bench.options.rounds, say: bench.say });
  const row = (name: string, { median, min, max }: Summary) => [
    name,
    (median / 1000).toFixed(2),
    `${(min / 1000).toFixed(2)}-${(max / 1000).toFixed(2)}`,
    (median / script.median).toFixed(2),
  ];
  return {
    headers: ['start', 'median s', 'range s', 'ratio'],
    rows: [
      row("RabbitMQ's start script alone", script),
      row('shopctl up, data there', warm),
      row('shopctl up, no data', cold),
    ],
    targets: [
      { what: '`up` with data, of the script alone', value: warm.median / script.median, atMost: UP_LIMITS.warm },
    ],
    notes: [broker],
    measured: { script, warm, cold },
  };
}
