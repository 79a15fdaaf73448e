import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';
import type { Running } from '../process/running.ts';
import { spawnProcess } from '../process/spawn.ts';
import type { Launch } from '../providers/component.ts';
import type { Unit } from './unit.ts';

/** What the supervisor wants to know about each child, and puts into its environment. */
export interface ChildRegistry {
  /** SHOPCTL_MARK of every child: finds daemons (epmd) even after kill -9. */
  readonly mark: string;
  /** Throws when it cannot be written down (a full disk): the child must not live on then. */
  started(identity: ProcessIdentity, stopSignal: NodeJS.Signals): void;
  /** Never throws. */
  ended(identity: ProcessIdentity): void;
}

export interface ComponentUnitOptions {
  readonly launch: Launch;
  readonly logFile: string;
  readonly registry: ChildRegistry;
  readonly dependsOn?: readonly string[];
  readonly isExtra?: boolean;
  /** Further work each time it serves. */
  readonly afterSetUp?: () => Promise<void>;
}

/** A component as the supervisor runs it, whatever its provider. */
export function componentUnit({
  launch,
  logFile,
  registry,
  dependsOn = [],
  isExtra,
  afterSetUp,
}: ComponentUnitOptions): Unit {
  const { component, kind, detail, address, info, url } = launch;
  return {
    name: component,
    service: component,
    kind: 'component',
    dependsOn,
    waitsFor: [],
    ports: { main: address.port },
    ...(url !== undefined && { url }),
    provider: kind,
    detail,
    address,
    info,
    logFile,
    ...(isExtra && { isExtra }),
    fingerprint: `${kind} ${address.host}:${address.port}`,
    prepare: () => launch.prepare(),
    start: () => startComponent(launch, logFile, registry),
    probe: (signal) => launch.probe(signal),
    ...(launch.refresh && { refresh: () => launch.refresh?.() ?? Promise.resolve([]) }),
    async setUp() {
      await launch.setUp();
      await afterSetUp?.();
    },
  };
}

async function startComponent(launch: Launch, logFile: string, registry: ChildRegistry): Promise<Running> {
  const { run } = launch;
  switch (run.type) {
    case 'process': {
      // What an earlier run that was killed left behind would stand in the way.
      await launch.cleanUp();
      const running = await spawnProcess({
        ...run.spec,
        env: { ...run.spec.env, SHOPCTL_MARK: registry.mark },
        logFile,
        exitsWithParent: false,
        onStart: registry.started,
        onEnd: registry.ended,
      });
      const ended = running.ended.then(async (how) => {
        await launch.cleanUp();
        return how;
      });
      return {
        ...running,
        ended,
        stop: async (timeoutMs) => {
          await running.stop(timeoutMs);
          await ended;
        },
      };
    }
    case 'container': {
      const { ended, pid } = await run.start();
      const process = pid === undefined ? undefined : await identifyProcess(pid);
      return { ...(process && { process }), ended, stop: (timeoutMs) => run.stop(timeoutMs) };
    }
    case 'external':
      return untilStopped();
  }
}

/** Something whose end we do not see: it runs until it is no longer wanted; its probe fails while it is unavailable. */
function untilStopped(): Running {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  return { ended, stop: async () => resolve('stopped') };
}
