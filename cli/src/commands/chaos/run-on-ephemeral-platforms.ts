import { messageOf } from '../../errors.ts';
import type { FoundExperiment } from '../../experiments/format/catalog.ts';
import { type EphemeralPlatform, startEphemeral } from '../../experiments/run/ephemeral-platform.ts';
import { estimateMs } from '../../experiments/run/estimate.ts';
import { recordNotStarted } from '../../experiments/run/host-requirements.ts';
import { mayFollow } from '../../experiments/run/may-follow.ts';
import { needsKey } from '../../experiments/run/needs.ts';
import { unavailableOn } from '../../experiments/run/preflight.ts';
import { addReached } from '../../experiments/run/reached.ts';
import { Schedule } from '../../experiments/run/schedule.ts';
import { labelledOutput } from '../../output/labelled-output.ts';
import type { Output } from '../../output/output.ts';
import { bundles } from '../../platform/bundles.ts';
import type { Project } from '../../platform/project.ts';
import { type Batch, conclude, endsAll, reportUnavailable, runNext } from './experiment-batch.ts';

/** So many starts that fail one after the other are no accident: the rest would fail like them. */
const FAILED_STARTS = 3;

/** What the platforms of one command share. */
interface Pool {
  readonly batch: Batch;
  /** How many work side by side. */
  readonly platforms: number;
  /** Nothing further is begun. */
  isOver: boolean;
  failedStarts: number;
}

/**
 * Runs experiments on so many ephemeral platforms side by side, each on one at a time; those marked `alone` when no other
 * runs. With one platform all run in the order in which they are given. What one platform comes to does not concern the
 * others: an error ends what waits, not what runs.
 */
export async function runOnEphemeralPlatforms(
  experiments: readonly FoundExperiment[],
  platforms: number,
  batch: Batch,
): Promise<void> {
  const { deps, project } = batch;
  const pool: Pool = { batch, platforms, isOver: false, failedStarts: 0 };
  if (platforms === 1) return runPart(new Schedule(experiments, () => 0), 1, pool);
  // Once: platforms that start side by side would build side by side.
  await bundles(project).buildIfStale((line) => deps.output.note(line));
  const byKind = Map.groupBy(experiments, ({ experiment }) => experiment.alone);
  const [together = [], alone = []] = [byKind.get(false), byKind.get(true)];
  const count = Math.min(platforms, together.length);
  if (together.length > 0) {
    deps.output.note(`${together.length} experiments on ${count} ${count === 1 ? 'platform' : 'platforms'}`);
    await runPart(new Schedule(together, ({ experiment }) => estimateMs(experiment)), count, pool);
  }
  if (pool.isOver || alone.length === 0) return;
  deps.output.note(`${alone.length} experiments alone`);
  // In any order they take as long, but for one after which the next needs a new platform: it is the last on its own.
  await runPart(new Schedule(alone, ({ experiment }) => Number(mayFollow('pass', experiment))), 1, pool);
}

/** Resolves when every platform has ended; rejects then with the first error. */
async function runPart(schedule: Schedule, count: number, pool: Pool): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const ends = await Promise.allSettled(
    numbers.map(async (number) => {
      try {
        await runPlatform(number, schedule, pool);
      } catch (error) {
        pool.isOver = true;
        throw error;
      }
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Runs on one platform after the other, all of one number, until nothing waits. */
async function runPlatform(number: number, schedule: Schedule, pool: Pool): Promise<void> {
  const place = new Place(number, schedule, pool);
  try {
    for (let found = place.next(); found !== undefined; found = place.next()) await place.run(found);
    await place.close({ keeps: pool.batch.options.keep === true });
  } finally {
    await place.end();
  }
}

/** Where experiments run one after the other: a platform, and the next one when that no longer serves. */
class Place {
  readonly #number: number;
  readonly #schedule: Schedule;
  readonly #pool: Pool;
  #own: EphemeralPlatform | undefined;
  #needs: string | undefined;
  #output: Output;

  constructor(number: number, schedule: Schedule, pool: Pool) {
    this.#number = number;
    this.#schedule = schedule;
    this.#pool = pool;
    this.#output = pool.batch.deps.output;
  }

  next(): FoundExperiment | undefined {
    return this.#pool.isOver ? undefined : this.#schedule.take(this.#needs);
  }

  async run(found: FoundExperiment): Promise<void> {
    const { batch } = this.#pool;
    const needs = needsKey(found.experiment.platform);
    if (needs !== this.#needs) await this.close();
    this.#needs = needs;
    this.#output = this.#outputFor(found);
    if (this.#own === undefined && !(await this.#startFor(found))) return;
    const { project } = this.#own as unknown as EphemeralPlatform;
    const run = await runNext(found, project, batch, this.#output);
    if (endsAll(run, batch, { isEphemeral: true })) this.#pool.isOver = true;
    else if (!mayFollow(run.verdict, found.experiment)) await this.close();
  }

  /** Counts what was reached on the platform, and takes it down unless it is kept. */
  async close({ keeps = false } = {}): Promise<void> {
    const own = this.#own;
    if (own === undefined) return;
    const { reached, deps } = this.#pool.batch;
    await addReached(reached, own.project).catch((error: unknown) =>
      this.#output.warn(`the failpoints reached on ${own.project.name} are not counted: ${messageOf(error)}`),
    );
    if (!keeps || deps.signal.aborted) return this.end();
    const { name } = own.project;
    own.keep();
    this.#own = undefined;
    deps.output.note(`${name} is kept: "shopctl status -p ${name}"; "shopctl down -v -p ${name}" ends it`);
  }

  async end(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    await own?.end(this.#output);
  }

  /** False when the platform did not start or cannot have this experiment, which is reported then. */
  async #startFor(found: FoundExperiment): Promise<boolean> {
    const { batch } = this.#pool;
    const deps = { ...batch.deps, output: this.#output };
    try {
      this.#own = await startEphemeral(batch.project, found.experiment.platform, deps, this.#number);
    } catch (error) {
      deps.signal.throwIfAborted();
      await this.#notStarted(found, error);
      return false;
    }
    this.#pool.failedStarts = 0;
    return this.#has(found, this.#own.project);
  }

  async #notStarted(found: FoundExperiment, error: unknown): Promise<void> {
    const { batch } = this.#pool;
    const { project, options } = batch;
    this.#pool.failedStarts += 1;
    const run = await recordNotStarted(found, error, { project, seed: options.seed });
    await conclude(found, run, batch, this.#output);
    if (this.#pool.failedStarts >= FAILED_STARTS) throw error;
    if (endsAll(run, batch, { isEphemeral: true })) this.#pool.isOver = true;
  }

  /** Looks, before anything is done to it, which of the experiments that wait for such a platform it cannot have. */
  async #has(found: FoundExperiment, project: Project): Promise<boolean> {
    const waiting = [...new Set(this.#schedule.waitingFor(this.#needs as string))];
    const unavailable = await unavailableOn(project, [found, ...waiting.filter((one) => one !== found)]);
    // Another platform may have reported the same, also of a repetition that this one has taken.
    const own = unavailable.filter((one) => this.#schedule.removeAll(one.found));
    await reportUnavailable(own, this.#pool.batch, this.#output);
    return unavailable.every((one) => one.found !== found);
  }

  #outputFor({ experiment: { id } }: FoundExperiment): Output {
    const { platforms, batch } = this.#pool;
    return platforms === 1 ? batch.deps.output : labelledOutput(batch.deps.output, id.padEnd(4));
  }
}
