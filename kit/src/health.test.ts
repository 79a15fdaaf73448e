import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHealth } from './health.ts';

const up = async () => undefined;

describe('readiness', () => {
  afterEach(() => void vi.useRealTimers());

  it('is ready when every dependency responds', async () => {
    expect(await createHealth({ database: up }).readiness()).toEqual({
      pid: process.pid,
      version: '0.0.0-source',
      track: 'stable',
      status: 'ready',
      dependencies: [{ name: 'database', status: 'up' }],
    });
  });

  it('names the failing dependency by the code of the innermost error, and no host', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
    const health = createHealth({
      database: () => Promise.reject(new Error('unavailable', { cause: new AggregateError([refused]) })),
      broker: up,
    });
    expect(await health.readiness()).toEqual({
      pid: process.pid,
      version: '0.0.0-source',
      track: 'stable',
      status: 'not ready',
      dependencies: [
        { name: 'database', status: 'down', reason: 'ECONNREFUSED' },
        { name: 'broker', status: 'up' },
      ],
    });
  });

  it('is not ready while it drains, although all dependencies respond', async () => {
    const health = createHealth({ database: up });
    health.drain();
    const { status, dependencies } = await health.readiness();
    expect(status).toBe('not ready');
    expect(dependencies).toContainEqual({ name: 'self', status: 'down', reason: 'draining' });
  });

  it('is asked once for callers that come together, and again later', async () => {
    const check = vi.fn(up);
    const health = createHealth({ database: check });
    await Promise.all([health.readiness(), health.readiness()]);
    expect(check).toHaveBeenCalledTimes(1);
    await health.readiness();
    expect(check).toHaveBeenCalledTimes(2);
  });
});
