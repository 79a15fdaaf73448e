import { CliError, messageOf } from '../../errors.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { DrillJournal } from '../journal/journal-file.ts';
import { type EndReason, type Evidence, JOURNAL_VERSION, recordsOf } from '../journal/records.ts';
import { noticedBy, servedFrom } from '../score/customers.ts';
import { isProved } from '../score/failure.ts';
import { steadyMsOf } from '../score/round.ts';
import { rubric } from '../score/rubric.ts';
import { commitmentOf } from '../seal/envelope.ts';
import { startCustomers } from './customers.ts';
import { createExemplars } from './exemplars.ts';
import { createHappenings } from './happenings.ts';
import { createOverdueCount } from './overdue.ts';
import type { DrillPorts, Injection } from './ports.ts';
import type { Hint, Round, RoundResult, RoundSettings, RoundStatus } from './round-types.ts';

const TICK_MS = 1_000;
/** The platform has to serve so long before anything happens. */
const STEADY_MS = 10_000;
/** And may take so long to do so: the ticket of each slow order of its start lasts until a hundred others were placed, 12.5 s. */
const STEADY_LIMIT_MS = 120_000;
/** Times between two ticks above which the clock has jumped, or the machine has slept. */
const JUMP_MS = 5_000;
/** After `fixed`, what was sent before may still fail. */
const FIXED_GRACE_MS = 15_000;
/** A fault ends with its round; without one, so long after its limit. */
const TTL_MARGIN_MS = 120_000;
const MOST_LATE_SHARE = 0.05;
/** One order that meets a busy second has the spans of a second attempt, and says nothing about those that are served. */
const PROOFS = 3;

const isTelemetryLoss = (one: Injection) => one.type === 'fault' && one.fault === 'telemetry-outage';

const HINT_STAGES = ['detect', 'locate', 'mitigate'] as const;

/** Begins a round: the commitment is in the journal when this returns. */
export function startRound(settings: RoundSettings, ports: DrillPorts, journal: DrillJournal): Round {
  const { envelope, limitMs } = settings;
  const { scenario, schedule } = envelope;
  const { clock } = ports;
  const commitment = commitmentOf(envelope);
  const began = clock.now();
  const over = new AbortController();
  let phase: RoundStatus['phase'] = 'starting';
  let ended: { readonly why: EndReason; readonly reason: string } | undefined;
  let endedMs: number | undefined;
  let tries = 0;
  let hints = 0;
  let fixedAt: number | undefined;
  const hasSeen = { page: false, ack: false };
  const elapsed = () => Math.round(clock.now() - began);
  const overdue = createOverdueCount(ports);
  const exemplars = createExemplars({ ports, over: over.signal, elapsed });
  const customers = startCustomers({
    seed: schedule.loadSeed,
    clock,
    place: (order) => ports.place(order),
    onResponse(placed) {
      const { response, outcome } = placed;
      if (outcome !== 'failed' && response.kind === 'decided' && response.status === 'Confirmed')
        overdue.add(response.id);
      exemplars.note(placed);
    },
  });

  journal.write({
    type: 'start',
    version: JOURNAL_VERSION,
    rubric: 'v1',
    commitment,
    level: envelope.level,
    strength: settings.strength,
    isSeedKnown: settings.isSeedKnown,
    limitMs,
    hints: settings.hints,
    trainee: settings.trainee,
  });

  const finish = (why: EndReason, reason: string) => {
    if (ended !== undefined) return;
    ended = { why, reason };
    endedMs = elapsed();
    over.abort();
  };
  const happenings = createHappenings({
    envelope,
    ports,
    customers,
    ttlMs: limitMs + TTL_MARGIN_MS,
    over: over.signal,
    elapsed,
    isNoticed: () => noticed().at(-1)?.outside !== undefined,
    onFailed: (reason) => finish('void', reason),
  });
  const requireOpen = () => {
    if (ended !== undefined)
      throw new CliError({ code: 'no_drill', what: 'the round is over', next: 'see "shopctl drill score"' });
  };
  const requireBegun = () => {
    requireOpen();
    if (phase !== 'starting') return;
    throw new CliError({
      code: 'drill_not_begun',
      what: 'the round has not begun: nothing can be over yet',
      why: `the platform has to serve for ${STEADY_MS / 1000} s first`,
      next: 'see "shopctl drill status"',
    });
  };
  // In the journal once the round is revealed: no other scenario has them.
  const metrics = new Map<number, number>();
  const { symptom } = scenario;
  const measure = symptom.of === 'metric' ? { above: symptom.above, values: metrics } : undefined;
  const noticed = () => noticedBy(journal.records(), measure);

  async function measured(): Promise<number | undefined> {
    if (symptom.of !== 'metric') return undefined;
    return ports.measure(symptom.query).catch(() => undefined); // No value: nothing is measured in this second.
  }

  async function tick(): Promise<void> {
    const metric = await measured();
    const { seq } = journal.write({ type: 'second', ...customers.take(), overdue: overdue.count() });
    if (metric !== undefined) metrics.set(seq, metric);
  }

  /** Calls back once a second until it says that it is enough, or the round is over. */
  async function eachSecond(isEnough: () => boolean | Promise<boolean>): Promise<void> {
    // By the wall clock, which goes on while a machine sleeps, and jumps when it is set.
    let last = clock.date().getTime();
    for (let due = clock.now() + TICK_MS; ended === undefined; due += TICK_MS) {
      await clock.sleep(Math.max(0, due - clock.now()), over.signal).catch(() => undefined); // Over: checked next.
      if (ended !== undefined) return;
      const jumpMs = Math.abs(clock.date().getTime() - last);
      if (jumpMs > JUMP_MS)
        return finish('void', `the clock jumped by ${formatDuration(jumpMs)}, or nothing ran meanwhile`);
      last = clock.date().getTime();
      await tick();
      if (await isEnough()) return;
    }
  }

  async function steady(): Promise<void> {
    let since = clock.now();
    let why: string | undefined;
    await eachSecond(() => {
      const [page] = ports.firing();
      const disturbed = noticed().at(-1)?.outside ?? page;
      if (disturbed !== undefined) {
        since = clock.now();
        why = disturbed;
      }
      if (clock.now() - since >= STEADY_MS) return true;
      if (elapsed() > STEADY_LIMIT_MS)
        finish('void', `the platform was not steady within ${STEADY_LIMIT_MS / 1000} s: ${why}`);
      return false;
    });
    if (ended !== undefined) return;
    const sent = customers.sent();
    journal.write({ type: 'baseline', served: sent, failed: 0 });
    phase = 'on-call';
  }

  /** What every second of a round may bring: a decoy that is due, the limit, the end of the look at customers. */
  async function look(): Promise<void> {
    const { begunMs } = happenings;
    for (const after of ['page', 'ack'] as const) {
      if (hasSeen[after] || begunMs === undefined) continue;
      // One of the platform's start may have fired, and ended, before.
      hasSeen[after] = recordsOf(journal.records(), after).some(
        (record) => record.ms >= begunMs && (record.type === 'ack' || record.state === 'firing'),
      );
      if (hasSeen[after]) happenings.follow(after);
    }
    if (elapsed() >= limitMs) finish('limit', `the limit of ${formatDuration(limitMs)} was reached`);
    else if (fixedAt !== undefined) await lookAtCustomers(fixedAt);
  }

  /** It is fixed once customers were served for a minute from then on; what was sent before may fail at first. */
  async function lookAtCustomers(since: number): Promise<void> {
    const seen = noticed();
    const lastNoticed = seen.findLast(({ outside }) => outside !== undefined)?.second.ms ?? 0;
    // As the score counts it: seconds are some milliseconds early or late.
    if (servedFrom(seen, since) !== undefined) {
      // No operator ends it, and a proof is a trace.
      await happenings.revert('the proof needs telemetry', isTelemetryLoss);
      await prove();
      finish('fixed', 'customers were served for a minute');
    } else if (lastNoticed > since + FIXED_GRACE_MS) {
      fixedAt = undefined;
      phase = 'on-call';
    }
  }

  /** The last proof counts. */
  async function prove(): Promise<void> {
    for (let tries = 0; tries < PROOFS && ended === undefined; tries++) {
      const proof = await ports.prove();
      journal.write({ type: 'proof', ...proof });
      if (isProved(proof)) return;
    }
  }

  async function close(): Promise<RoundResult> {
    const { sent, late } = customers.usual();
    if (late > sent * MOST_LATE_SHARE && ended?.why !== 'aborted' && ended?.why !== 'void') {
      ended = { why: 'void', reason: `${late} of ${sent} orders were sent late: the machine did not hold the rate` };
    }
    const { why, reason } = ended ?? { why: 'void', reason: 'the round ended without a reason' };
    journal.write({ type: 'end', why, reason });
    phase = 'ended';
    const left = [...(await happenings.revert('the round is over')), ...(await ports.restore())];
    await customers.stop();
    const problems: string[] = [];
    try {
      journal.write({ type: 'audit', ...(await ports.balance()) });
    } catch (error) {
      problems.push(`orders were not compared: ${messageOf(error)}`);
    }
    journal.write({ type: 'reveal', envelope });
    if (metrics.size > 0) journal.write({ type: 'measured', values: [...metrics] });
    for (const event of [...happenings.withheld, ...(await exemplars.collect())]) journal.write(event);
    return { why, reason, left, problems, hash: journal.close().hash };
  }

  async function run(): Promise<RoundResult> {
    try {
      await steady();
      await eachSecond(async () => {
        await look();
        requireQuiet();
        return elapsed() >= quietUntil();
      });
      if (ended === undefined) await injectMeanwhile();
      await eachSecond(async () => {
        await look();
        return false;
      });
    } catch (error) {
      finish('void', `the round could not go on: ${messageOf(error)}`);
    }
    return close();
  }
  /** Seconds are recorded while it is injected, which takes some where it is a release. */
  async function injectMeanwhile(): Promise<void> {
    let isOver = false;
    const inject = async () => {
      await exemplars.begin();
      await happenings.inject();
      happenings.follow('injection');
    };
    const looking = eachSecond(async () => {
      await look();
      return isOver;
    });
    const results = await Promise.allSettled([inject().finally(() => (isOver = true)), looking]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
  /** The quiet time begins when the platform is steady. */
  const quietUntil = () => steadyMsOf(journal.records()) + schedule.quietMs;
  /** A trainee who responds to what comes before the failure would lose the points of a response to the failure. */
  function requireQuiet(): void {
    const steadyMs = steadyMsOf(journal.records());
    const acknowledged = recordsOf(journal.records(), 'ack').find(({ ms }) => ms >= steadyMs);
    const last = noticed().at(-1);
    if (acknowledged !== undefined)
      finish('void', `the platform was not steady: ${acknowledged.alert} fired in the quiet time`);
    else if (last?.kinds.has('metric')) finish('void', `the platform was not steady: ${last.outside}`);
  }
  const nextHint = (): Hint | undefined => {
    const stage = settings.hints ? HINT_STAGES[hints] : undefined;
    return stage === undefined ? undefined : { stage, cost: rubric.hints[stage], text: scenario.hints[stage] };
  };

  return {
    status: () => ({
      phase,
      commitment,
      level: envelope.level,
      strength: settings.strength,
      elapsedMs: endedMs ?? elapsed(),
      limitMs,
      tries,
      hintPoints: HINT_STAGES.slice(0, hints).reduce((sum, stage) => sum + rubric.hints[stage], 0),
      ...(ended !== undefined && { ended }),
    }),
    record(event) {
      requireOpen();
      journal.write(event);
    },
    async blame({ component, mechanism, scope, references }, by) {
      requireOpen();
      if (tries >= rubric.diagnose.tries) {
        throw new CliError({
          code: 'invalid_usage',
          what: `there are ${rubric.diagnose.tries} tries, and all were used`,
        });
      }
      const startedAt = clock.date().getTime() - elapsed();
      const evidence = await Promise.all(
        references.map(async (reference): Promise<Evidence> => {
          const { at, touches } = await ports.evidence(reference);
          return { reference, touches, happenedMs: at.getTime() - startedAt };
        }),
      );
      requireOpen();
      tries++;
      journal.write({ type: 'blame', component, mechanism, scope, evidence, by });
    },
    nextHint,
    takeHint() {
      requireOpen();
      const hint = nextHint();
      if (hint === undefined) throw new CliError({ code: 'invalid_usage', what: 'there is no other hint' });
      hints++;
      journal.write({ type: 'hint', stage: hint.stage });
      return hint;
    },
    fixed(by) {
      requireBegun();
      journal.write({ type: 'fixed', by });
      fixedAt = elapsed();
      phase = 'checking';
    },
    allClear(by) {
      requireBegun();
      journal.write({ type: 'all-clear', by });
      finish('all-clear', 'nothing is wrong, says the trainee');
    },
    end(why, reason) {
      requireOpen();
      finish(why, reason);
    },
    done: run(),
  };
}
