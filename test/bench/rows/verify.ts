import type { Bench } from '../bench.ts';
import { summarize } from '../rounds.ts';
import { type Section, withRange } from '../section.ts';

/** (g) `shopctl verify` on a running platform, from the command's start to its end. */
export async function measureVerify(bench: Bench): Promise<Section> {
  const { platform } = await bench.shop('direct');
  const seconds: number[] = [];
  for (let round = 0; round < bench.options.rounds; round++) {
    bench.say(`round ${round + 1} of ${bench.options.rounds}: verify`);
    const began = performance.now();
    const { code, stdout, stderr } = await platform.shopctl('verify');
    seconds.push((performance.now() - began) / 1000);
    if (code !== 0) throw new Error(`verify ended with ${code}: ${stdout}${stderr}`);
  }
  const summary = summarize(seconds);
  return {
    headers: ['command', 's (range)'],
    rows: [['shopctl verify', withRange(summary)]],
    targets: [],
    notes: [],
    measured: summary,
  };
}
