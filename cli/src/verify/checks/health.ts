import { messageOf } from '../../errors.ts';
import { httpPort, type InstanceState } from '../../platform/state.ts';
import { serviceNames } from '../../topology/services.ts';
import type { Check } from '../check.ts';
import { expectThat } from '../check-errors.ts';

/** A health response takes up to 1 s, because a dependency may be given that long. */
const LIMIT_MS = 3_000;

/** Every instance of every service is alive, and ready to work. */
export const health: Check = {
  id: 'health',
  name: 'all services are live and ready',
  async run({ connection, signal }) {
    const { instances } = await connection.control.state();
    const services = instances.filter(({ kind }) => kind === 'service');
    const absent = serviceNames.filter((name) => !services.some(({ service }) => service === name));
    const problems = (await Promise.all(services.map((instance) => problemOf(instance, signal)))).flat();
    const observed = [...absent.map((name) => `${name} is not there`), ...problems];
    expectThat(observed.length === 0, {
      expected: '200 from /health/live and /health/ready of all',
      observed: observed.join('; '),
    });
    return `${services.length} instances of ${serviceNames.length} services respond 200 twice`;
  },
};

async function problemOf(instance: InstanceState, signal: AbortSignal): Promise<string[]> {
  const { name, status } = instance;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  const problems = await Promise.all(
    ['live', 'ready'].map(async (kind) => {
      try {
        const response = await fetch(`http://127.0.0.1:${httpPort(instance)}/health/${kind}`, { signal: limit });
        const body = await response.text();
        return response.ok ? undefined : `${name} is not ${kind} (${response.status} ${body.slice(0, 200)})`;
      } catch (error) {
        return `${name} (${status}) does not respond: ${messageOf((error as Error).cause ?? error)}`;
      }
    }),
  );
  return [...new Set(problems.filter((problem) => problem !== undefined))];
}
