/*
 * Goal: every bug that can be planted is caught by a named step or invariant of an experiment (docs/chaos.md).
 * Method: each experiment runs on a platform of its own with the bug in it, and must deviate with that reason.
 * `npm run chaos:plants [-- PLANT...]`; exit code 1 when one was not caught.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RunSummary } from '../../cli/src/experiments/run/run-chaos-run.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { isPlantName, type PlantName, plants } from '../../kit/src/plants.ts';

interface Catch {
  readonly experiment: string;
  /** Of the step or invariant that is to notice; it begins as the reason does. */
  readonly reason: RegExp;
}

const catches: Readonly<Record<PlantName, Catch>> = {
  'publish-in-request': { experiment: 'E01', reason: /^"orders without the broker": 5 orders: / },
  'mandatory-unbound': { experiment: 'E05a', reason: /^"its event counts as published": shop\.outbox\.pending 1,/ },
  'breaker-counts-402': { experiment: 'E11', reason: /^breaker\.open of orders-payments must never/ },
  'retry-declined': { experiment: 'E11', reason: /^"its trace": 1 of 1 traces otherwise: 34 spans: 4 not as expected/ },
  'no-retries': { experiment: 'E13', reason: /^"an order": 1 orders: 1 Cancelled: payment unavailable/ },
  'crash-in-recovery': { experiment: 'E24a', reason: /^process\.exit of orders happened too often: 2 of 1/ },
  'price-in-hryvnias': { experiment: 'E09', reason: /^I15 .* is violated: .*was ordered for 450 UAH/ },
  'duration-in-seconds': { experiment: 'E09', reason: /^I11 .* is violated: .*shop\.saga\.duration/ },
  'gauge-always-zero': { experiment: 'E01', reason: /^"each waits in the outbox": shop\.outbox\.pending 0,/ },
  'no-inbox': { experiment: 'E29', reason: /^I7 .* is violated: / },
  'no-idempotency-key': { experiment: 'E13', reason: /^I4 .* is violated: / },
  'charged-twice': { experiment: 'E13', reason: /^I4 .* is violated: .*charged 2 times/ },
  'release-before-reserve-forgotten': { experiment: 'E15b', reason: /^"no units of cancelled orders": I5 violated/ },
};

const wanted = process.argv.slice(2);
const all = Object.keys(plants).filter(isPlantName);
const unknown = wanted.filter((plant) => !isPlantName(plant));
if (unknown.length > 0) {
  process.stderr.write(`no such bug: ${unknown.join(', ')}; there are ${all.join(', ')}\n`);
  process.exit(2);
}
for (const plant of wanted.length === 0 ? all : wanted.filter(isPlantName)) await look(plant);

async function look(plant: PlantName): Promise<void> {
  const { experiment, reason } = catches[plant];
  const args = ['chaos', 'run', experiment, '--plant', plant, '--fresh', '--json', '--project', 'plants'];
  const child = spawn(join(cloneRoot(), 'cli/bin/shopctl'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  const [run] = stdout === '' ? [] : (JSON.parse(stdout) as RunSummary[]);
  const why = run?.reasons.find((one) => reason.test(one));
  const isCaught = run?.verdict === 'deviated' && why !== undefined;
  const found = why ?? run?.reasons.join('; ') ?? stderr.slice(-400);
  process.stdout.write(`${isCaught ? 'caught' : 'MISSED'}  ${plant} by ${experiment} (${run?.verdict}): ${found}\n`);
  if (!isCaught) process.exitCode = 1;
}
