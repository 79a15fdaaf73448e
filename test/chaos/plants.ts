/*
 * Goal: every bug that can be planted is caught by a named experiment, for the reason that the bug is (docs/chaos.md).
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
  readonly reason: RegExp;
  /** Otherwise deviated. Unknown: the shop was never steady, because its every trace is wrong. */
  readonly verdict?: 'unknown';
}

const catches: Readonly<Record<PlantName, Catch>> = {
  'publish-in-request': {
    experiment: 'E01',
    verdict: 'unknown',
    reason: /"steady: its trace": .*missing \(never created: orders\)/,
  },
  'mandatory-unbound': { experiment: 'E05a', reason: /NO_ROUTE|shop\.outbox\.pending|I6/ },
  'breaker-counts-402': {
    experiment: 'E11',
    reason: /payment unavailable|breaker\.open of orders-payments must never/,
  },
  'retry-declined': { experiment: 'E11', reason: /charge payment|call\.retried|shop\.call\.retries/ },
  'price-in-hryvnias': { experiment: 'E09', reason: /I15.*was ordered for 450 UAH/ },
  'duration-in-seconds': { experiment: 'E09', reason: /I11.*shop\.saga\.duration/ },
  'gauge-always-zero': { experiment: 'E01', reason: /shop\.outbox\.pending/ },
  'no-inbox': { experiment: 'E29', reason: /I7|units|shipped/ },
  'no-idempotency-key': { experiment: 'E13', reason: /I4/ },
  'charged-twice': { experiment: 'E13', reason: /I4.*charged 2 times/ },
  'release-before-reserve-forgotten': { experiment: 'E15b', reason: /I5|reserved/ },
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
  const { experiment, reason, verdict = 'deviated' } = catches[plant];
  const args = ['chaos', 'run', experiment, '--plant', plant, '--fresh', '--json', '--project', 'plants'];
  const child = spawn(join(cloneRoot(), 'cli/bin/shopctl'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  const [run] = stdout === '' ? [] : (JSON.parse(stdout) as RunSummary[]);
  const why = run?.reasons.find((one) => reason.test(one));
  const isCaught = run?.verdict === verdict && why !== undefined;
  const found = why ?? run?.reasons.join('; ') ?? stderr.slice(-400);
  process.stdout.write(`${isCaught ? 'caught' : 'MISSED'}  ${plant} by ${experiment} (${run?.verdict}): ${found}\n`);
  if (!isCaught) process.exitCode = 1;
}
