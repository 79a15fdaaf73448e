import { cloneRoot, openProject } from '../../../cli/src/platform/project.ts';
import type { Bench } from '../bench.ts';
import { alternate } from '../measure/cases.ts';
import { startWorker } from '../measure/worker.ts';
import { CASE_HEADERS, caseRow, found, type Section } from '../section.ts';
import { ENGINE_POOLS } from '../subjects/databases.ts';
import type { DbosOptions } from '../subjects/dbos-worker.ts';
import { type Floor, workerFloor } from '../subjects/floor.ts';
import { installPeers } from '../subjects/peer-packages.ts';
import { openRestateServer } from '../subjects/restate-server.ts';
import type { RestateOptions } from '../subjects/restate-worker.ts';
import { shots } from './orders.ts';

/** (i) The product's saga engine against DBOS Transact and Restate: one process each, the same SQL on the same server. */
export async function measurePeers(bench: Bench): Promise<Section> {
  const { cacheDir } = openProject('bench', cloneRoot(), process.env);
  const packages = await installPeers(cacheDir, bench.say);
  const { urls, pid: postgres, systemUrl } = await bench.databases();
  await using stack = new AsyncDisposableStack();
  const worker = (file: string, env: NodeJS.ProcessEnv = {}) =>
    stack.use(startWorker(new URL(`../subjects/${file}-worker.ts`, import.meta.url), { env }));

  const engine = worker('engine');
  await engine.call('open', urls);
  const dbos = worker('dbos');
  const module = packages.entryOf('@dbos-inc/dbos-sdk');
  await dbos.call('open', { urls, systemUrl, module } satisfies DbosOptions);
  const server = stack.use(await openRestateServer(packages.restateServer));
  const restate = worker('restate', { RESTATE_LOGGING: 'ERROR' });
  await restate.call('open', {
    urls,
    module: packages.entryOf('@restatedev/restate-sdk'),
    ingress: server.ingress,
    admin: server.admin,
    port: server.endpointPort,
  } satisfies RestateOptions);

  const subjects: Readonly<Record<string, Floor>> = {
    'our engine': workerFloor(engine, { postgres }),
    'DBOS Transact': workerFloor(dbos, { postgres }),
    Restate: workerFloor(restate, { postgres, 'restate server': server.pid }),
  };
  for (const one of Object.values(subjects)) await bench.warm(one);
  const cases = [1, 32].flatMap((concurrency) =>
    Object.entries(subjects).map(([name, one]) => shots(bench, `${name}, ${concurrency}`, one, concurrency)),
  );
  const measured = await alternate(cases, { ...bench.options, say: bench.say });
  const rate = (name: string) => found(measured, `${name}, 32`).perSecond.median;
  const versions = Object.entries(packages.versions).map(([name, version]) => `${name} ${version}`);
  return {
    headers: CASE_HEADERS,
    rows: measured.map(caseRow),
    targets: ['DBOS Transact', 'Restate'].map((peer) => ({
      what: `orders/s of our engine at 32 concurrent, of those of ${peer}`,
      value: rate('our engine') / rate(peer),
      atLeast: 3,
    })),
    notes: [
      `${versions.join(', ')}. Each in one process that holds steps and load, without tracing and logging, with ${ENGINE_POOLS.steps} connections to each database of a step and ${ENGINE_POOLS.orders} to the one of the engine's records.`,
      'All three run their steps through the database code of the services, with the same pools, after the same time under load. DBOS and Restate have four durable steps, of which one reads the price; ours saves its row after each step that changes something. Restate has the durability that its server has by default, and a second process; transactional steps of DBOS are not used.',
      "Steps are functions with the services' SQL. Ours writes its saga row, leases and outbox beside that, with recovery and relay running; its time is that of the orders, or from the first shipped to the last where that is longer. The peers' own records take that place.",
    ],
    measured,
  };
}
