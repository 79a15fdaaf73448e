import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ChaosExtension } from '../chaos/supervise.ts';
import type { DeployExtension } from '../deploy/supervise.ts';
import { CliError, messageOf } from '../errors.ts';
import type { PagerExtension } from '../pager/supervise.ts';
import { createChangeLog } from '../platform/change-log.ts';
import { readJson, sendJson } from '../platform/control-api.ts';
import { currentRoundFile } from '../platform/current-round.ts';
import { holdRuns } from '../platform/run-lock.ts';
import type { ActiveDrill } from '../platform/state.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { systemClock } from '../shared/clock.ts';
import { requirePrometheus } from '../shop/prometheus.ts';
import { startRound } from './engine/round.ts';
import type { Round, RoundResult } from './engine/round-types.ts';
import { findScenario, readScenarios } from './format/catalog.ts';
import { createDrillJournal, voidDrillJournal } from './journal/journal-file.ts';
import { isOfRound, openAlerts } from './live/alerts-of-round.ts';
import { followChanges } from './live/follow-changes.ts';
import { COLLEAGUE, createLivePorts } from './live/ports.ts';
import { readOperatorState } from './live/restore.ts';
import type { DrillRequests, ShownRound, StartRequest } from './requests.ts';
import { DRILL_STARTED, journalOf } from './rounds.ts';
import { candidatesOf } from './seal/draw.ts';
import { checkEnvelope, type Envelope, seal } from './seal/envelope.ts';

/** What a drill works with beside the platform. */
export interface DrillContext extends ExtensionContext {
  readonly env: NodeJS.ProcessEnv;
  readonly chaos: ChaosExtension;
  readonly deploys: DeployExtension;
  readonly pager: PagerExtension['pager'];
  /** Has recent orders audited until what it returns is called: alerts and symptoms may be about that. */
  auditRecent(): () => void;
}

interface Running {
  readonly id: string;
  readonly shown: ActiveDrill;
  readonly round: Round;
  /** Also what is held for the round is given back. */
  readonly over: Promise<RoundResult>;
  result?: RoundResult;
}

/** The response of what gives nothing is the round. */
type Actions = {
  readonly [Name in keyof DrillRequests]: (body: DrillRequests[Name], one: Running) => unknown;
};

/**
 * Failure drills. `GET /v1/drill`: ShownRound, the last one once it is over. `POST /v1/drill/start`: StartRequest.
 * `POST /v1/drill/NAME`: see DrillRequests. All of them give a ShownRound, `hint` a Hint. Nothing of them says what happens.
 */
export async function openDrills(context: DrillContext, createPorts = createLivePorts): Promise<SupervisorExtension> {
  const { project, events, chaos, pager, deploys } = context;
  const report = (problem: string) => console.error(`supervisor: drill: ${problem}`);
  let running: Running | undefined;
  let isStarting = false;
  await endKilledRound();

  /** The supervisor of a round was killed: the round proves nothing. Its fault is reverted elsewhere, from the undo log. */
  async function endKilledRound(): Promise<void> {
    const file = currentRoundFile(project);
    if (!existsSync(file)) return;
    const id = (await readFile(file, 'utf8')).trim();
    await voidDrillJournal(journalOf(project, id), new Date()).catch((error: unknown) => report(messageOf(error)));
    await rm(file, { force: true });
    report(`the round ${id} is void: its supervisor was killed`);
  }

  async function start(request: StartRequest): Promise<Running> {
    if (isStarting || (running !== undefined && running.result === undefined)) throw refusal();
    isStarting = true;
    try {
      requireSteadyPlatform();
      requireNoTicket();
      const held = await holdRuns(project);
      try {
        return await begin(request, held);
      } catch (error) {
        await held[Symbol.asyncDispose]();
        throw error;
      }
    } finally {
      isStarting = false;
    }
  }

  function requireSteadyPlatform(): void {
    const state = context.state();
    requirePrometheus(state);
    const faults = chaos.faults().map(({ fault, target }) => `${fault} on ${target}`);
    const waiting = state.instances.filter(({ status }) => status !== 'ready').map(({ name }) => name);
    if (state.status === 'ready' && faults.length === 0 && waiting.length === 0) return;
    throw new CliError({
      code: 'drill_not_started',
      what: 'a drill begins on a platform that is ready, without a fault',
      why: faults.length > 0 ? `active: ${faults.join(', ')}` : `not ready: ${waiting.join(', ') || 'the platform'}`,
      next: faults.length > 0 ? 'end them with "shopctl chaos clear --all"' : 'see "shopctl status"',
    });
  }

  /** A ticket looks back for long. A page is resolved while the platform has to be steady, or the round is void. */
  function requireNoTicket(): void {
    const open = openAlerts(pager).filter(({ severity }) => severity === 'ticket');
    if (open.length === 0) return;
    throw new CliError({
      code: 'drill_not_started',
      what: 'a drill begins on a platform without a ticket',
      why: `open: ${[...new Set(open.map(({ name }) => name))].join(', ')}, which looks back for minutes`,
      next: 'wait until "shopctl alerts ls" shows none, or start again: "shopctl down --volumes", "shopctl up --with alerts"',
    });
  }

  async function begin(request: StartRequest, held: AsyncDisposable): Promise<Running> {
    const startedAt = new Date();
    const id = startedAt.toISOString().replace(/\..*/, '').replaceAll(/[-:]/g, '').replace('T', '-');
    const envelope = request.envelope === undefined ? await drawEnvelope(request) : await checked(request.envelope);
    const before = await readOperatorState(context);
    const file = journalOf(project, id);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const changes = createChangeLog(project, report);
    const ports = createPorts({ context, chaos, deploys, pager, changes, startedAt, before });
    const { limitMs, trainee, exam = false } = request;
    const hints = request.hints && !exam;
    const strength = exam ? 'exam' : request.envelope === undefined ? 'practice' : 'sealed';
    const isSeedKnown = request.seed !== undefined || request.scenario !== undefined;
    const settings = { envelope, strength, isSeedKnown, limitMs, hints, trainee } as const;
    const round = startRound(settings, ports, createDrillJournal(file, systemClock));
    await writeFile(currentRoundFile(project), id, { mode: 0o600 });
    const unfollow = observe(round, startedAt);
    const leaveAudit = context.auditRecent();
    chaos.setOwner({ refusal, onLook: () => onPeek(round, 'chaos') });
    events.add(DRILL_STARTED, 'platform', `a drill is on: ${id}, commitment ${round.status().commitment}`);
    const shown = { id, startedAt: startedAt.toISOString(), limitMs };
    const over = round.done.finally(() => letGo({ held, unfollow, leaveAudit }));
    const one: Running = { id, shown, round, over };
    one.over.then(
      (result) => {
        one.result = result;
        context.onChange();
        events.add('drill.ended', 'platform', `the drill ${id} is over (${result.why}): ${result.reason}`);
      },
      (error: unknown) => report(messageOf(error)),
    );
    running = one;
    context.onChange();
    return one;
  }

  async function drawEnvelope({ level, seed = randomBytes(8).toString('hex'), scenario, weights = {} }: StartRequest) {
    const scenarios = await readScenarios(project.root);
    const state = context.state();
    if (scenario !== undefined) findScenario(scenarios, scenario);
    const hasDeploy = deploys.unavailable() === undefined;
    const known = new Map(Object.entries(weights));
    const candidates = candidatesOf(scenarios, level, { hasDeploy, weights: known }).filter(({ id }) => {
      const { needs } = findScenario(scenarios, id);
      const hasReplicas = Object.entries(needs.replicas).every(([name, count]) => (state.replicas[name] ?? 1) >= count);
      return hasReplicas && (scenario === undefined || id === scenario);
    });
    return seal(scenarios, { seed, level, candidates, build: state.build ?? 'unknown' });
  }

  /** A sealed round is that of this build and of these scenarios. Throws CliError (5), with what differs. */
  async function checked(envelope: Envelope): Promise<Envelope> {
    const { build = 'unknown' } = context.state();
    const problems = [
      ...(build === envelope.build ? [] : [`the platform is of build ${build}, the round of ${envelope.build}`]),
      ...checkEnvelope(envelope, await readScenarios(project.root)),
    ];
    if (problems.length === 0) return envelope;
    throw new CliError({
      code: 'pack_differs',
      what: 'the sealed round is of something else than this platform',
      why: problems.join('; '),
      next: 'use the commit that it was sealed with, or have it sealed again',
    });
  }

  /** The journal has what the platform and the trainee do from now on. */
  function observe(round: Round, startedAt: Date): () => Promise<void> {
    const unfollow = pager.follow((event) => {
      if (!('severity' in event) || !isOfRound(event.alertname, event.severity)) return;
      const alert = event.alertname;
      // A ticket is not brought to anybody: it fires.
      const isNew = event.type === 'notified' || (event.type === 'fired' && event.severity === 'ticket');
      if (isNew) recordIfOpen(round, { type: 'page', alert, state: 'firing' });
      else if (event.type === 'escalated') recordIfOpen(round, { type: 'page', alert, state: 'escalated' });
      else if (event.type === 'resolved') recordIfOpen(round, { type: 'page', alert, state: 'resolved' });
      else if (event.type === 'acknowledged') recordIfOpen(round, { type: 'ack', alert, by: event.by });
    });
    const following = followChanges(project, startedAt, ({ kind, target, from, to, by, failed, beganAt }) => {
      if (by.user === COLLEAGUE.by.user || by.source === 'drill' || kind === 'acknowledge') return;
      recordIfOpen(round, {
        type: 'action',
        change: kind,
        target,
        from,
        to,
        by: by.user,
        ...(failed !== undefined && { failed }),
        ...(beganAt !== undefined && {
          beganMs: Date.parse(beganAt) - (systemClock.date().getTime() - round.status().elapsedMs),
        }),
      });
    });
    return async () => {
      unfollow();
      await following.stop();
    };
  }

  interface Held {
    readonly held: AsyncDisposable;
    unfollow(): Promise<void>;
    leaveAudit(): void;
  }

  async function letGo({ held, unfollow, leaveAudit }: Held): Promise<void> {
    leaveAudit();
    await unfollow();
    chaos.setOwner(undefined);
    await rm(currentRoundFile(project), { force: true });
    await held[Symbol.asyncDispose]();
  }

  function requireRunning(): Running {
    if (running !== undefined) return running;
    throw new CliError({ code: 'no_drill', what: 'no drill is on', next: 'start one with "shopctl drill start"' });
  }

  const actions: Actions = {
    declare: ({ text, by }, { round }) => round.record({ type: 'declare', text, by }),
    note: ({ text, by }, { round }) => round.record({ type: 'note', text, by }),
    update: ({ text, by }, { round }) => round.record({ type: 'update', text, by }),
    blame: ({ by, ...blame }, { round }) => round.blame(blame, by),
    fixed: ({ by }, { round }) => round.fixed(by),
    async 'all-clear'({ by }, { round, over }) {
      round.allClear(by);
      await over;
    },
    async end({ why, by }, { round, over }) {
      round.end(why, `${why === 'aborted' ? 'aborted' : 'given up'} by ${by}`);
      await over;
    },
    look: ({ source }, { round }) => recordIfOpen(round, { type: 'look', source }),
    hint({ take }, { round }) {
      const next = round.nextHint();
      if (!take && next !== undefined) return { stage: next.stage, cost: next.cost };
      return round.takeHint();
    },
  };

  return {
    async handle(route, request, response) {
      const name = /^POST \/v1\/drill\/([a-z-]+)$/.exec(route)?.[1];
      if (route === 'GET /v1/drill') sendJson(response, show(requireRunning()));
      else if (name === 'start') sendJson(response, show(await start(await readJson<StartRequest>(request))));
      else if (name !== undefined && Object.hasOwn(actions, name)) {
        const one = requireRunning();
        const act = actions[name as keyof DrillRequests] as (body: unknown, one: Running) => unknown;
        sendJson(response, (await act(await readJson(request), one)) ?? show(one));
      } else return false;
      return true;
    },
    activeFaults: () => [],
    activeDrill: () => (running?.result === undefined ? running?.shown : undefined),
    async end() {
      if (running === undefined || running.result !== undefined) return;
      if (running.round.status().ended === undefined) running.round.end('aborted', 'the platform ends');
      await running.over;
    },
  };
}

function show({ id, round, result }: Running): ShownRound {
  return {
    id,
    ...round.status(),
    ...(result !== undefined && { left: result.left, problems: result.problems, hash: result.hash }),
  };
}

/** Practice notes it; a round that another person has decided, or an exam, proves nothing any more. */
function onPeek(round: Round, where: string): void {
  recordIfOpen(round, { type: 'peek', where });
  const { ended, strength } = round.status();
  if (ended === undefined && strength !== 'practice') round.end('void', `the trainee looked at ${where}`);
}

/** What happens after the end is not part of the round. */
function recordIfOpen(round: Round, event: Parameters<Round['record']>[0]): void {
  if (round.status().ended === undefined) round.record(event);
}

function refusal(): CliError {
  return new CliError({
    code: 'drill_running',
    what: 'a drill is on',
    why: 'it has the faults of the platform for itself; what to do about one is up to the commands of operators',
    next: 'this would end it: "shopctl drill abort"',
  });
}
