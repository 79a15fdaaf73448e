import { context, createContextKey, metrics } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from './deadline.ts';
import { type EdgeLimits, edges } from './edges.ts';
import { NotSentError, OutOfTimeError, PermanentError, TransientError } from './failures.ts';
import { createLogger } from './logger.ts';
import type { Replica } from './replica-picker.ts';
import { fixedReplicas } from './replicas.ts';
import { type Attempt, backoffMs, CallUnavailableError, createCallPolicy } from './resilience.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const limits: EdgeLimits = edges['orders-stock'];
const failing = () => Promise.reject(new TransientError('responded 503'));
const hangs = () => new Promise<never>(() => undefined);

/** A replica whose probes succeed while `isUp`. */
function aReplica(address = 'one') {
  const replica = {
    address,
    isUp: true,
    async check() {
      if (!replica.isUp) throw new Error('no response');
    },
  };
  return replica;
}

function aPolicy(changes: Partial<EdgeLimits> = {}, replicas = [aReplica()]) {
  const policy = createCallPolicy('orders-stock', { ...limits, ...changes }, logger, fixedReplicas(replicas));
  opened.push(policy);
  const call = <T>(attempt: (attempt: Attempt<Replica>) => Promise<T>, { budgetMs = 9_000, idempotent = true } = {}) =>
    policy.execute({ deadline: Deadline.after(budgetMs), idempotent }, attempt);
  /** How the call failed, once virtual time has passed. */
  const failure = async (attempt: (attempt: Attempt<Replica>) => Promise<unknown>, options = {}) => {
    const settled = call(attempt, options).then(
      () => undefined,
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(limits.callTimeoutMs);
    return (await settled) as CallUnavailableError;
  };
  /** Lets enough calls fail one after the other. */
  const open = async () => {
    for (let index = 0; policy.state === 'closed' && index < 5; index += 1) await failure(failing);
    expect(policy.state).toBe('open');
  };
  return { policy, call, failure, open };
}

const opened: Disposable[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const policy of opened.splice(0)) policy[Symbol.dispose]();
  vi.useRealTimers();
});

describe('a call', () => {
  it('is tried again after a passing failure, and returns the first success', async () => {
    const attempt = vi.fn<() => Promise<string>>();
    attempt.mockRejectedValueOnce(new TransientError('reset')).mockResolvedValueOnce('reserved');
    const result = aPolicy().call(attempt);
    await vi.advanceTimersByTimeAsync(limits.backoffMaxMs);
    expect(await result).toBe('reserved');
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it('is tried as often as the table says, and then unavailable', async () => {
    const attempt = vi.fn(failing);
    const error = await aPolicy().failure(attempt);
    expect(attempt).toHaveBeenCalledTimes(limits.attempts);
    expect(error).toBeInstanceOf(CallUnavailableError);
    expect(error).toMatchObject({ edge: 'orders-stock', reason: 'failure', sent: true });
  });

  it('numbers its attempts from 1', async () => {
    const numbers: number[] = [];
    await aPolicy().failure(({ number }) => {
      numbers.push(number);
      return failing();
    });
    expect(numbers).toEqual([1, 2, 3]);
  });

  it('is not tried again when that could act twice', async () => {
    const attempt = vi.fn(failing);
    await aPolicy().failure(attempt, { idempotent: false });
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('is not tried again after a lasting failure, which is passed on', async () => {
    const attempt = vi.fn(() => Promise.reject(new PermanentError('INVALID_ARGUMENT')));
    expect(await aPolicy().failure(attempt)).toBeInstanceOf(PermanentError);
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('aborts an attempt that does not respond, by its signal', async () => {
    const signals: AbortSignal[] = [];
    const error = await aPolicy().failure(({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    expect(error).toMatchObject({ reason: 'timeout', sent: true });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  it('leaves the signal of a completed attempt alone: nothing is left to abort', async () => {
    const given = await aPolicy().call(async ({ signal }) => signal);
    await vi.advanceTimersByTimeAsync(limits.callTimeoutMs);
    expect(given.aborted).toBe(false);
  });

  it('that is over ends the attempt in work', async () => {
    const signals: AbortSignal[] = [];
    const error = await aPolicy({ attemptTimeoutMs: limits.callTimeoutMs }).failure(({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    expect(error).toMatchObject({ reason: 'timeout', sent: true });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('ends within its own limit, whatever its attempts do', async () => {
    const settled = aPolicy({ attempts: 50 })
      .call(() => new Promise(() => undefined))
      .catch(() => performance.now());
    const startedAt = performance.now();
    await vi.advanceTimersByTimeAsync(limits.callTimeoutMs);
    expect((await settled) as number).toBeLessThanOrEqual(startedAt + limits.callTimeoutMs);
  });
});

describe("the caller's deadline", () => {
  it('shortens the attempts', async () => {
    const given: number[] = [];
    const call = aPolicy().call(async ({ timeoutMs }) => void given.push(timeoutMs), { budgetMs: 300 });
    await call;
    expect(given).toEqual([300]);
  });

  it('is each call its own', async () => {
    const { call } = aPolicy();
    const given: number[] = [];
    for (const budgetMs of [9_000, 300, 9_000]) {
      await call(async ({ timeoutMs }) => void given.push(timeoutMs), { budgetMs });
    }
    expect(given).toEqual([limits.attemptTimeoutMs, 300, limits.attemptTimeoutMs]);
  });

  it('shortens the call', async () => {
    const settled = aPolicy()
      .call(() => new Promise(() => undefined), { budgetMs: 300 })
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(300);
    expect(await settled).toMatchObject({ reason: 'timeout' });
  });

  it('or the limit of the call leaves a later attempt the remaining time, which it receives', async () => {
    const given: number[] = [];
    const { call } = aPolicy({ attemptTimeoutMs: 1_000, backoffBaseMs: 1, backoffMaxMs: 1 });
    const settled = call(
      ({ timeoutMs }) => {
        given.push(timeoutMs);
        return new Promise(() => undefined);
      },
      { budgetMs: 1_400 },
    ).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_400);
    expect(await settled).toMatchObject({ reason: 'timeout', sent: true });
    expect(given[0]).toBe(1_000);
    expect(given[1]).toBeGreaterThanOrEqual(399);
    expect(given[1]).toBeLessThanOrEqual(400);
    expect(given).toHaveLength(2);
  });

  it('lets nothing be sent once it has passed', async () => {
    const attempt = vi.fn(failing);
    expect(await aPolicy().failure(attempt, { budgetMs: 0 })).toMatchObject({ reason: 'no_budget', sent: false });
    expect(attempt).not.toHaveBeenCalled();
  });
});

describe('the circuit breaker', () => {
  it('opens after the failures of the table, and then rejects immediately without sending', async () => {
    const { policy, failure, call } = aPolicy();
    await failure(failing);
    await failure(failing);
    expect(policy.state).toBe('open');
    const attempt = vi.fn(failing);
    await expect(call(attempt)).rejects.toMatchObject({ reason: 'breaker_open', sent: false });
    expect(attempt).not.toHaveBeenCalled();
  });

  it('does not count business responses and permanent failures', async () => {
    const { policy, failure, call } = aPolicy();
    for (let index = 0; index < 100; index += 1) await call(async () => ({ status: 402 }));
    for (let index = 0; index < 10; index += 1) await failure(() => Promise.reject(new PermanentError('NOT_FOUND')));
    expect(policy.state).toBe('closed');
  });

  it('counts attempts without a response', async () => {
    const { policy, failure } = aPolicy();
    await failure(() => new Promise(() => undefined));
    await failure(() => new Promise(() => undefined));
    expect(policy.state).toBe('open');
  });

  it.each([
    ['hang', hangs],
    [
      'end with their signal',
      ({ signal }: Attempt) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new TransientError('aborted')));
        }),
    ],
    ['got DEADLINE_EXCEEDED', () => Promise.reject(new OutOfTimeError('DEADLINE_EXCEEDED'))],
  ])(
    'does not count attempts that %s when the caller gave them less time than the edge has',
    async (_title, attempt) => {
      const { policy, failure } = aPolicy();
      for (let index = 0; index < 20; index += 1) {
        expect(await failure(attempt, { budgetMs: 2 })).toMatchObject({ reason: 'timeout', sent: true });
      }
      expect(policy.state).toBe('closed');
    },
  );

  it('counts failures of the edge, however little time the caller gave', async () => {
    const { policy, failure } = aPolicy();
    for (let index = 0; index < limits.breakerFailures; index += 1) {
      await failure(failing, { budgetMs: 2, idempotent: false });
    }
    expect(policy.state).toBe('open');
  });

  it('does not count a retry that the end of the call leaves no time for', async () => {
    const pausing = { attempts: 2, backoffBaseMs: 10_000, backoffMaxMs: 10_000, breakerFailures: 2 };
    const { policy, call } = aPolicy(pausing);
    const random = vi.spyOn(Math, 'random').mockReturnValue(1);
    const settled = call(failing).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(limits.callTimeoutMs + pausing.backoffMaxMs);
    random.mockRestore();
    expect(await settled).toMatchObject({ reason: 'timeout' });
    expect(policy.state).toBe('closed');
  });

  it('is not tried by a retry that the end of the call leaves no time for', async () => {
    const pausing = { attempts: 2, backoffBaseMs: 10_000, backoffMaxMs: 10_000 };
    const { call } = aPolicy({ ...pausing, breakerFailures: 1, breakerHalfOpenAfterMs: 8_000 });
    const random = vi.spyOn(Math, 'random').mockReturnValue(1);
    const settled = call(failing).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(12_000);
    random.mockRestore();
    expect(await settled).toMatchObject({ reason: 'timeout' });
    expect(await call(async () => 'ok')).toBe('ok');
  });

  it('evaluates the call let through by the time of the edge, not by that of its caller', async () => {
    const { policy, failure, call } = aPolicy();
    await failure(failing);
    await failure(failing);
    await vi.advanceTimersByTimeAsync(limits.breakerHalfOpenAfterMs);
    const received: number[] = [];
    const impatient = call(
      ({ timeoutMs }) => {
        received.push(timeoutMs);
        return hangs();
      },
      { budgetMs: 2 },
    ).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2);
    expect(await impatient).toMatchObject({ reason: 'timeout', sent: true });
    expect([policy.state, received]).toEqual(['half-open', [limits.attemptTimeoutMs]]);
    await vi.advanceTimersByTimeAsync(limits.attemptTimeoutMs);
    expect(policy.state).toBe('open');
  });

  it('lets one call through after its pause, refuses all others meanwhile, and closes when it succeeds', async () => {
    const { policy, open, call } = aPolicy();
    await open();
    await vi.advanceTimersByTimeAsync(limits.breakerHalfOpenAfterMs);
    const probe = Promise.withResolvers<string>();
    const trial = call(() => probe.promise);
    const others = await Promise.allSettled(Array.from({ length: 200 }, () => call(async () => 'ok')));
    expect(policy.state).toBe('half-open');
    const refused = { status: 'rejected', reason: { reason: 'breaker_open', sent: false } };
    expect(others).toMatchObject(Array.from({ length: 200 }, () => refused));
    probe.resolve('ok');
    expect(await trial).toBe('ok');
    expect(policy.state).toBe('closed');
  });

  it('refuses what waited for a place when it opened', async () => {
    const { policy, call, failure } = aPolicy({ bulkhead: 2, attempts: 1 });
    for (let count = 1; count < limits.breakerFailures; count += 1) await failure(failing);
    await vi.advanceTimersByTimeAsync(limits.breakerFailingMs);
    const ends = [100, 200].map((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
    const attempt = vi.fn(async () => {
      await ends[attempt.mock.calls.length - 1];
      throw new TransientError('responded 503');
    });
    const calls = Array.from({ length: 4 }, () => call(attempt).catch((error: unknown) => error));
    await vi.advanceTimersByTimeAsync(200);
    expect(policy.state).toBe('open');
    expect(await calls[3]).toMatchObject({ reason: 'breaker_open', sent: false });
    await Promise.all(calls);
  });

  it('keeps its pause by the monotonic clock, wherever the wall clock is set', async () => {
    const { open, call } = aPolicy();
    await open();
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(limits.breakerHalfOpenAfterMs);
    expect(await call(async () => 'ok')).toBe('ok');
  });

  it('lets a call through as soon as probes succeed at the replica that they had ejected', async () => {
    const replica = aReplica();
    const { open, call, policy } = aPolicy({}, [replica]);
    replica.isUp = false;
    await open();
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(call(async () => 'ok')).rejects.toMatchObject({ reason: 'breaker_open' });
    replica.isUp = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(await call(async () => 'ok')).toBe('ok');
    expect(policy.state).toBe('closed');
  });

  it('opens again when the call let through fails', async () => {
    const { policy, failure } = aPolicy();
    await failure(failing);
    await failure(failing);
    await vi.advanceTimersByTimeAsync(limits.breakerHalfOpenAfterMs);
    await failure(failing, { idempotent: false });
    expect(policy.state).toBe('open');
  });
});

describe('replicas', () => {
  const asked = (attempts: { replica: unknown }[]) =>
    attempts.map(({ replica }) => (replica as { address: string }).address);

  it('another one is asked when an attempt is tried again', async () => {
    const { failure } = aPolicy({}, [aReplica('one'), aReplica('two'), aReplica('three')]);
    const attempts: Attempt[] = [];
    await failure((attempt) => {
      attempts.push(attempt);
      return failing();
    });
    expect(asked(attempts).toSorted()).toEqual(['one', 'three', 'two']);
  });

  it('another one is tried immediately where nothing was sent, also for non-idempotent calls, as one attempt', async () => {
    const { call } = aPolicy({}, [aReplica('one'), aReplica('two')]);
    const attempts: Attempt[] = [];
    const result = await call(
      async (attempt) => {
        attempts.push(attempt);
        if (attempts.length === 1) throw new NotSentError('refused');
        return 'ok';
      },
      { idempotent: false },
    );
    expect(result).toBe('ok');
    expect(new Set(asked(attempts)).size).toBe(2);
    expect(attempts.map(({ number }) => number)).toEqual([1, 1]);
  });

  it('one that keeps failing does not open the breaker of the edge', async () => {
    const { call, policy } = aPolicy({}, [aReplica('broken'), aReplica('two')]);
    const results: string[] = [];
    for (let index = 0; index < 200; index += 1) {
      const result = call(async ({ replica }) => {
        if (replica.address === 'broken') throw new TransientError('responded 503');
        return 'ok';
      });
      await vi.advanceTimersByTimeAsync(100);
      results.push(await result);
    }
    expect(new Set(results)).toEqual(new Set(['ok']));
    expect(policy.state).toBe('closed');
  });

  it('one that does not respond is ejected only by timeouts of callers with the full time', async () => {
    const { call } = aPolicy({ attempts: 1 }, [aReplica('frozen'), aReplica('two')]);
    let toFrozen = 0;
    const burst = async (budgetMs: number) => {
      toFrozen = 0;
      const calls = Array.from({ length: 20 }, () =>
        call(
          ({ replica }) => {
            if (replica.address !== 'frozen') return Promise.resolve();
            toFrozen += 1;
            return hangs();
          },
          { budgetMs },
        ),
      );
      const settled = Promise.allSettled(calls);
      await vi.advanceTimersByTimeAsync(limits.attemptTimeoutMs);
      await settled;
      return toFrozen;
    };
    expect(await burst(10)).toBe(10);
    expect(await burst(9_000)).toBe(10);
    expect(await burst(9_000)).toBe(0);
  });
});

describe('shop.breaker.transitions', () => {
  class Reader extends MetricReader {
    protected override async onForceFlush() {}
    protected override async onShutdown() {}
  }

  it('counts every change, also one that is over before it is looked at', async () => {
    const reader = new Reader();
    const provider = new MeterProvider({ readers: [reader] });
    const getMeter = vi.spyOn(metrics, 'getMeter').mockReturnValue(provider.getMeter('Shop.Resilience'));
    const { failure, call } = aPolicy();
    getMeter.mockRestore();
    const counts = async () => {
      const { resourceMetrics } = await reader.collect();
      const found = resourceMetrics.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .find(({ descriptor }) => descriptor.name === 'shop.breaker.transitions');
      return Object.fromEntries((found?.dataPoints ?? []).map(({ attributes, value }) => [attributes.to, value]));
    };
    expect(await counts()).toEqual({ closed: 0, 'half-open': 0, open: 0 });
    await failure(failing);
    await failure(failing);
    await vi.advanceTimersByTimeAsync(limits.breakerHalfOpenAfterMs);
    await call(async () => 'ok');
    expect(await counts()).toEqual({ closed: 1, 'half-open': 1, open: 1 });
  });
});

describe('the bulkhead', () => {
  const tenant = createContextKey('tenant');

  beforeAll(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
  afterAll(() => context.disable());

  it('lets as many calls run and wait as the table says, and refuses the next', async () => {
    const { call } = aPolicy({ bulkhead: 1, attempts: 1 });
    const result = Promise.withResolvers<string>();
    const running = [call(() => result.promise), call(() => result.promise)];
    await expect(call(() => result.promise)).rejects.toMatchObject({ reason: 'bulkhead_full', sent: false });
    result.resolve('ok');
    expect(await Promise.all(running)).toEqual(['ok', 'ok']);
  });

  it('gives a call that waited for its place the whole time of an attempt', async () => {
    const { policy, call } = aPolicy({ bulkhead: 1, attempts: 1 });
    const received: number[] = [];
    const first = call(() => new Promise(() => undefined)).catch((error: unknown) => error);
    const second = call(async ({ timeoutMs }) => void received.push(timeoutMs));
    await vi.advanceTimersByTimeAsync(limits.attemptTimeoutMs);
    expect(await first).toMatchObject({ reason: 'timeout' });
    await second;
    expect([received, policy.state]).toEqual([[limits.attemptTimeoutMs], 'closed']);
  });

  it('never sends what waited for longer than its call, and the breaker does not count it', async () => {
    const { policy, call } = aPolicy({ bulkhead: 1, attempts: 1, breakerFailures: 2 });
    const attempt = vi.fn(failing);
    const first = call(() => new Promise(() => undefined)).catch((error: unknown) => error);
    const second = call(attempt, { budgetMs: 100 }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(limits.callTimeoutMs);
    await first;
    expect(await second).toMatchObject({ reason: 'timeout', sent: false });
    expect(attempt).not.toHaveBeenCalled();
    expect(policy.state).toBe('closed');
  });

  it('keeps the context of a call that waited, not that of the call which made room', async () => {
    const { call } = aPolicy({ bulkhead: 1, attempts: 1 });
    const room = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const as = (name: string, gate: Promise<void>) =>
      context.with(context.active().setValue(tenant, name), () =>
        call(async () => {
          seen.push(context.active().getValue(tenant));
          await gate;
        }),
      );
    const calls = [as('first', room.promise), as('second', Promise.resolve())];
    room.resolve();
    await Promise.all(calls);
    expect(seen).toEqual(['first', 'second']);
  });
});

describe('the pause before a retry', () => {
  it.each([
    [1, 50],
    [2, 100],
    [3, 200],
    [4, 400],
    [5, 400],
    [1_000, 400],
  ])('number %i is at most %i ms', (retry, ceiling) => {
    expect(backoffMs(retry, 50, 400, () => 1)).toBe(ceiling);
    expect(backoffMs(retry, 50, 400, () => 0)).toBe(0);
  });

  it('is not defined before the first', () => {
    expect(() => backoffMs(0, 50, 400)).toThrow(RangeError);
  });
});
