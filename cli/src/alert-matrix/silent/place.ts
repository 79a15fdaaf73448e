import { mixedOrder, refusedOrder } from '../../../../scenarios/lib/order-mix.ts';
import type { CommandDeps } from '../../command-context.ts';
import type { PlatformNeeds } from '../../experiments/format/schema.ts';
import { startEphemeral } from '../../experiments/run/ephemeral-platform.ts';
import type { MeasuringPlace } from '../../experiments/run/run-on-platforms.ts';
import { switchAudit } from '../../monitoring/audit-client.ts';
import type { Output } from '../../output/output.ts';
import { createPagerReader } from '../../pager/pager-reader.ts';
import { askedFrom } from '../../platform/change-log.ts';
import { connectPlatform } from '../../platform/connection.ts';
import { type ControlClient, createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import { systemClock } from '../../shared/clock.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { requirePrometheus } from '../../shop/prometheus.ts';
import { serviceNames } from '../../topology/services.ts';
import { startMixedLoad } from '../mixed-load.ts';
import { readShipments } from '../read-shipments.ts';
import type { SituationRecord } from './journal.ts';
import { measureSituation } from './measure-situation.ts';
import type { Disturbance, Part, Situation } from './situations.ts';
import { suspendProcesses } from './suspend.ts';

export interface SituationPlaceOptions {
  /** Whose list it is. */
  readonly project: Project;
  readonly number: number;
  readonly seed: number;
  readonly runId: string;
  readonly output: Output;
}

const NEEDS: PlatformNeeds = { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: true };
/** Of ten orders, where some are declined and out of stock. */
const REFUSED = 3;

/** A platform with alerts for one situation, whose own start is a part of it. Throws CliError when it does not start. */
export async function openSituationPlace(
  options: SituationPlaceOptions,
  deps: CommandDeps,
): Promise<MeasuringPlace<Situation, SituationRecord>> {
  const { project, number, output, seed, runId } = options;
  const clock = systemClock;
  const startedAt = clock.date().getTime();
  const own = await startEphemeral(project, NEEDS, { ...deps, output }, number);
  try {
    await switchAudit(own.project, true);
    const { gatewayUrl, databaseUrls } = await connectPlatform(own.project);
    const control = createControlClient(own.project);
    return {
      measure: (situation) =>
        withShopDatabases({ databaseUrls }, (databases) =>
          measureSituation(situation, {
            platform: own.project.name,
            startedAt,
            clock,
            signal: deps.signal,
            startLoad({ rate, mix }: Part, part) {
              const name = `${runId}-${situation.name.replaceAll(' ', '-')}-${part}-${startedAt}`;
              const load = { gatewayUrl, rate, seed, name, clock };
              if (mix !== 'declines') return startMixedLoad(load);
              const bodyOf = (index: number) =>
                (index % 10 < REFUSED ? refusedOrder(index) : mixedOrder(seed, name, index)).body;
              return startMixedLoad({ ...load, bodyOf });
            },
            disturb: (disturbance, forMs) => disturb(disturbance, forMs, { control, deps }),
            pager: createPagerReader(own.project),
            shippedAt: (orderIds) => readShipments(databases, orderIds),
            async scrapes(seconds) {
              const samples = await requirePrometheus(await control.state()).queryInstant(
                `sum(sum_over_time(up[${seconds}s]))`,
              );
              return samples[0]?.value ?? 0;
            },
          }),
        ),
      close: () => own.end(output),
    };
  } catch (error) {
    await own.end(output);
    throw error;
  }
}

async function disturb(
  disturbance: Disturbance,
  forMs: number,
  { control, deps: { signal } }: { readonly control: ControlClient; readonly deps: CommandDeps },
): Promise<void> {
  const restart = (service: string) => control.service(service, 'restart', askedFrom('command line'));
  switch (disturbance) {
    case 'restart all services':
      await Promise.all(serviceNames.map(restart));
      return;
    case 'restart each service':
      await inTurn(forMs, restart, signal);
      return;
    case 'suspend': {
      const resume = await suspendProcesses(await control.state());
      // Continued after an interruption too.
      await systemClock.sleep(forMs, signal).finally(resume);
    }
  }
}

/** Evenly over the time. */
async function inTurn(
  forMs: number,
  restart: (service: string) => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const began = systemClock.now();
  for (const [index, service] of serviceNames.entries()) {
    const waitMs = began + (index * forMs) / serviceNames.length - systemClock.now();
    if (waitMs > 0) await systemClock.sleep(waitMs, signal);
    await restart(service);
  }
}
