import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

/** Runs `main`, the text of a function's body, as a service's main in a process of its own. */
function aService(main: string) {
  const file = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const program = `
    import { runService, serveUntilSignal } from ${file('./lifecycle.ts')};
    import { createLogger } from ${file('./logger.ts')};
    import { publishTelemetry } from ${file('./telemetry/shutdown.ts')};
    publishTelemetry({ async shutdown() { console.log('{"msg":"telemetry flushed"}'); } });
    const logger = createLogger({ service: 'test', instance: 'test-7', level: 'info' });
    const serve = (drain, drainTimeoutMs = 20_000) => {
      const keepAlive = setInterval(() => undefined, 1_000);
      const served = serveUntilSignal({ logger, drainTimeoutMs, exitWithParent: false, drain });
      logger.info('serving');
      return served.finally(() => clearInterval(keepAlive));
    };
    await runService('test', { INSTANCE: 'test-7' }, async () => { ${main} });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = text(child.stdout);
  const errors = text(child.stderr);
  const served = new Promise<void>((resolve) =>
    child.stdout.on('data', (chunk: Buffer) => void (chunk.includes('"serving"') && resolve())),
  );
  return {
    served,
    stop: () => child.kill('SIGTERM'),
    async end() {
      const [code] = await once(child, 'exit');
      const records = (await output).trim().split('\n');
      return {
        code,
        errors: await errors,
        records: records.map((line) => JSON.parse(line) as Record<string, unknown>),
      };
    },
  };
}

/** In alphabetical order: a logger writes in its own time. */
function messagesOf(records: readonly Record<string, unknown>[]): readonly unknown[] {
  return records.map(({ msg }) => msg).toSorted();
}

describe('a service', () => {
  it('ends with 0 and its telemetry flushed when it has drained', async () => {
    const service = aService('await serve(async () => undefined);');
    await service.served;
    service.stop();
    const { code, records } = await service.end();
    expect(code).toBe(0);
    expect(messagesOf(records)).toEqual(['draining', 'serving', 'telemetry flushed']);
  });

  it('ends with 1 and its telemetry flushed when its work does not end in time', async () => {
    const service = aService('await serve(() => new Promise(() => undefined), 50);');
    await service.served;
    service.stop();
    const { code, records } = await service.end();
    expect(code).toBe(1);
    expect(messagesOf(records)).toEqual([
      'draining',
      'serving',
      'telemetry flushed',
      'work in flight did not end in time',
    ]);
  });

  it.each([
    ['uncaught exception', `setTimeout(() => { throw new Error('broken'); })`],
    ['unhandled rejection', `Promise.reject(new Error('broken'))`],
  ])('ends with 1, a fatal record and its telemetry flushed after an %s', async (msg, failure) => {
    const service = aService(`${failure}; await serve(async () => undefined);`);
    const { code, errors, records } = await service.end();
    expect(code).toBe(1);
    expect(errors).toBe('');
    expect(records).toContainEqual(
      expect.objectContaining({
        level: 'fatal',
        instance: 'test-7',
        msg,
        err: expect.objectContaining({ message: 'broken' }),
      }),
    );
    expect(messagesOf(records)).toContain('telemetry flushed');
  });
});
