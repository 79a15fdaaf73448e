import { describe, expect, it } from 'vitest';
import { type LogRecord, moduleAt, startProgram } from '../../test/support/program.ts';

/** Runs `main`, the text of a function's body, as a service's main in a separate process. */
function aService(main: string) {
  return startProgram(`
    import { runService, serveUntilSignal } from ${moduleAt('kit/src/lifecycle.ts')};
    import { createLogger } from ${moduleAt('kit/src/logger.ts')};
    import { publishTelemetry } from ${moduleAt('kit/src/telemetry/shutdown.ts')};
    publishTelemetry({ async shutdown() { console.log('{"msg":"telemetry flushed"}'); } });
    const logger = createLogger({ service: 'test', instance: 'test-7', level: 'info' });
    const serve = (drain, drainTimeoutMs = 20_000) => {
      const keepAlive = setInterval(() => undefined, 1_000);
      const served = serveUntilSignal({ logger, drainTimeoutMs, exitWithParent: false, drain });
      logger.info('serving');
      return served.finally(() => clearInterval(keepAlive));
    };
    await runService('test', { INSTANCE: 'test-7' }, async () => { ${main} });`);
}

/** In alphabetical order: a logger writes in its own time. */
function messagesOf(records: readonly LogRecord[]): readonly unknown[] {
  return records.map(({ msg }) => msg).toSorted();
}

describe('a service', () => {
  it.each([
    ['0 and its telemetry flushed when it has drained', 'await serve(async () => undefined);', 0, []],
    [
      '1 and its telemetry flushed when its work does not end in time',
      'await serve(() => new Promise(() => undefined), 50);',
      1,
      ['work in flight did not end in time'],
    ],
  ])('ends with %s', async (_, main, code, messages) => {
    await using service = aService(main);
    await expect.poll(() => messagesOf(service.records()), { timeout: 10_000 }).toEqual(['serving']);
    service.kill('SIGTERM');
    expect((await service.ended).code).toBe(code);
    expect(messagesOf(service.records())).toEqual(['draining', 'serving', 'telemetry flushed', ...messages]);
  });

  it.each([
    ['SIGTERM', false],
    ['SIGUSR2', true],
  ] as const)('ends at %s, after which another process serves its port: %s', async (signal, hasSuccessor) => {
    await using service = aService('await serve(async (end) => logger.info(end, "drained"));');
    await expect.poll(() => messagesOf(service.records()), { timeout: 10_000 }).toEqual(['serving']);
    service.kill(signal);
    expect(await service.ended).toEqual({ code: 0, errors: '' });
    expect(service.records()).toContainEqual(expect.objectContaining({ msg: 'drained', hasSuccessor }));
  });

  it.each([
    ['uncaught exception', `setTimeout(() => { throw new Error('broken'); })`],
    ['unhandled rejection', `Promise.reject(new Error('broken'))`],
  ])('ends with 1, a fatal record and its telemetry flushed after an %s', async (msg, failure) => {
    await using service = aService(`${failure}; await serve(async () => undefined);`);
    expect(await service.ended).toEqual({ code: 1, errors: '' });
    expect(service.records()).toContainEqual(
      expect.objectContaining({
        level: 'fatal',
        instance: 'test-7',
        msg,
        err: expect.objectContaining({ message: 'broken' }),
      }),
    );
    expect(messagesOf(service.records())).toContain('telemetry flushed');
  });
});
