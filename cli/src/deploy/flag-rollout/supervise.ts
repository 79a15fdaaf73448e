import { join } from 'node:path';
import { offDefinition } from '@shop/kit/flag-file.ts';
import { isFlagName, flags as knownFlags } from '@shop/kit/flag-names.ts';
import { CliError } from '../../errors.ts';
import { createChangeLog } from '../../platform/change-log.ts';
import { readJson, sendJson } from '../../platform/control-api.ts';
import { flagFile, flagFolder } from '../../platform/flag-file.ts';
import { describeReach, reachOf } from '../../platform/flag-state.ts';
import { readFlags, writeFlags } from '../../platform/flag-store.ts';
import { appendWhole, readLines, rotate } from '../../platform/line-file.ts';
import { makeStateFolder } from '../../platform/state-folder.ts';
import type { ExtensionContext, SupervisorExtension } from '../../platform/supervisor-extension.ts';
import { systemClock } from '../../shared/clock.ts';
import { createBackend } from '../../trace/backend.ts';
import { refusalOf } from '../analysis/arithmetic.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { totalsOf } from '../analysis/read-evidence.ts';
import { assertNoFault } from '../fault-gate.ts';
import { presentRate } from '../observe/present-rate.ts';
import { asAttempts, FLAG_OUTCOMES } from './points.ts';
import type { FlagRolloutRequest, FlagRolloutSummary } from './requests.ts';
import type { FlagRollout, RolloutRecord } from './rollout.ts';
import { type RolloutDeps, RolloutEngine, rolloutActive } from './rollout-engine.ts';
import { summaryOf } from './summary.ts';
import { openVariantObserver, watchedGuards } from './variant-observer.ts';

/** Type of the event with each change of a rollout; its subject is the flag. */
const ROLLOUT_CHANGED = 'flag.rollout';

/** One file has up to 16 MiB, some twenty rollouts of ten minutes; one older part is kept. */
const MAX_BYTES = 16 * 1024 ** 2;

/** The rollouts of a supervisor, for its other extensions. */
export interface FlagRolloutExtension extends SupervisorExtension {
  /** The rollout that is not over, as the refusal of what it is in the way of. */
  active(): CliError | undefined;
}

/**
 * The routes for rollouts of flags. `GET /v1/flag-rollouts`: FlagRolloutSummary[]. `POST /v1/flag-rollouts`: FlagRolloutRequest; its
 * summary. `POST /v1/flag-rollouts/abort`: the summary, once the flag is as it was.
 */
export async function openFlagRollouts(
  context: ExtensionContext & {
    /** Why no flag may be rolled out now: what a deploy does would be taken for what the flag does. */
    readonly obstacle: () => CliError | undefined;
  },
): Promise<FlagRolloutExtension> {
  const { project, events, state, obstacle } = context;
  const report = (problem: string) => console.error(`supervisor: ${problem}`);
  const file = flagFile(flagFolder(project));
  const said = new Map<string, string>();
  const engine = new RolloutEngine({
    journal: openJournal(project.stateDir, report),
    flags: storedFlags(file, createChangeLog(project, report)),
    observe: (plan, flag) =>
      openVariantObserver(
        { plan, flag },
        {
          metrics: (names) => createBackend(state().telemetryUrl).metrics(names),
          evaluators: () => evaluatorsOf(flag).map(({ name }) => name),
          now: Date.now,
        },
      ),
    onChange({ id, flag, isOver }, text) {
      // What is missing is said once, and not with each number of requests.
      if (said.get(id) === undefined || isOver || text.startsWith('on for')) events.add(ROLLOUT_CHANGED, flag, text);
      said.set(id, text);
    },
    obstacle,
    onProblem: report,
    clock: systemClock,
  });
  await engine.recover();

  function evaluatorsOf(flag: string) {
    const service = isFlagName(flag) ? knownFlags[flag].service : undefined;
    return state().instances.filter((one) => one.service === service);
  }

  /** Without any order nothing is known of the rate: the rollout waits for them, and is inconclusive at its limit. */
  async function assertInReach(flag: string, plan: CanaryPlan): Promise<void> {
    const rate = await presentRate(async () => {
      const points = await createBackend(state().telemetryUrl).metrics([FLAG_OUTCOMES]);
      return totalsOf(asAttempts(points, flag), flag).requests;
    });
    const refusal = rate === 0 ? undefined : refusalOf(plan, rate);
    if (refusal !== undefined) throw outOfReach(flag, refusal);
  }

  async function start(request: FlagRolloutRequest): Promise<FlagRollout> {
    const { flag, plan, asked, duringChaos = false, force = false } = request;
    const { faults } = state();
    assertNoFault(faults, 'the flag', duringChaos);
    const own = evaluatorsOf(flag);
    if (own.length === 0 || own.some(({ status }) => status !== 'ready')) throw notReady(flag);
    const { kind } = reachOf((await readFlags(file)).flags[flag] ?? offDefinition);
    if (kind !== 'off' && kind !== 'share') throw notOff(flag, kind === 'rules' ? 'on by its rules' : kind);
    const guards = plan.guards.filter((one) => watchedGuards.includes(one));
    if (!force) await assertInReach(flag, plan);
    return engine.start({ flag, plan: { ...plan, guards }, asked });
  }

  const summary = (rollout: FlagRollout): FlagRolloutSummary => summaryOf(rollout, said.get(rollout.id));

  return {
    active: () => (engine.active === undefined ? undefined : rolloutActive(engine.active)),
    async handle(route, request, response) {
      if (route === 'GET /v1/flag-rollouts') sendJson(response, engine.rollouts().map(summary));
      else if (route === 'POST /v1/flag-rollouts') sendJson(response, summary(await start(await readJson(request))));
      else if (route === 'POST /v1/flag-rollouts/abort')
        sendJson(response, summary(await engine.abort('asked for by an operator')));
      else return false;
      return true;
    },
    activeFaults: () => [],
    end: () => engine.end(),
  };
}

function openJournal(stateDir: string, report: (problem: string) => void): RolloutDeps['journal'] {
  const file = join(stateDir, 'flag-rollouts.jsonl');
  return {
    async append(record) {
      await makeStateFolder(stateDir);
      // A rollout that goes on has its beginning in one of the two parts.
      if (record.kind === 'planned') await rotate(file, MAX_BYTES);
      await appendWhole(file, `${JSON.stringify(record)}\n`);
    },
    async read() {
      const { values, unreadable } = await readLines(file, isRecord);
      for (const place of unreadable) report(`${place} is not a record of a rollout`);
      return values;
    },
  };
}

function storedFlags(file: string, changes: ReturnType<typeof createChangeLog>): RolloutDeps['flags'] {
  return {
    read: async (flag) => (await readFlags(file)).flags[flag] ?? offDefinition,
    async write(flag, definition, asked) {
      const content = await readFlags(file);
      const from = describeReach(reachOf(content.flags[flag] ?? offDefinition));
      await writeFlags(file, { ...content, flags: { ...content.flags, [flag]: definition } });
      await changes.append({ kind: 'flag', target: flag, from, to: describeReach(reachOf(definition)), ...asked });
    },
  };
}

function isRecord({ run, kind }: RolloutRecord): boolean {
  return typeof run === 'string' && typeof kind === 'string';
}

function notReady(flag: string): CliError {
  return new CliError({
    code: 'component_not_running',
    what: `no service that evaluates ${flag} is ready`,
    next: 'see "shopctl status"',
  });
}

function outOfReach(flag: string, refusal: string): CliError {
  return new CliError({
    code: 'plan_out_of_reach',
    what: `the orders are too few to roll out ${flag} by this plan`,
    why: refusal,
    next: 'choose another plan, raise the load, or add --force: it is as it was at the limit then',
  });
}

function notOff(flag: string, reach: string): CliError {
  return new CliError({
    code: 'invalid_rollout',
    what: `${flag} cannot be rolled out: it is ${reach}`,
    next: `switch it off first: "shopctl flags off ${flag}"`,
  });
}
