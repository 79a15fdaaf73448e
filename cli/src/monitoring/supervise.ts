import { messageOf } from '../errors.ts';
import { reportOf } from '../otlp/own-metrics.ts';
import { operatorBrokerUrl } from '../platform/connection.ts';
import { isRunInProgress } from '../platform/run-lock.ts';
import { wantsProbe } from '../platform/settings.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { VERSION } from '../version.ts';
import { startProbeMeter } from './probe-meter.ts';
import { startQueueMeter } from './queue-meter.ts';

/** The meter of what the supervisor measures. */
const PLATFORM_METER = 'Shop.Platform';

/** As often as the services report. */
const REPORT_EVERY_MS = 1_000;

/** Measures the platform from outside its services, and stores that beside what they report, as the process `shopctl`. */
export async function openMonitoring(
  context: ExtensionContext & { readonly env: NodeJS.ProcessEnv },
): Promise<SupervisorExtension> {
  const { project, env, state, takeMetrics } = context;
  const onProblem = (message: string) => console.error(`supervisor: ${message}`);
  const isProbing = wantsProbe(env);
  const meters = [
    startQueueMeter({
      async brokerUrl() {
        const now = state();
        const broker = now.instances.find(({ name }) => name === 'rabbitmq');
        if (broker?.status !== 'ready' && broker?.status !== 'unready') return undefined;
        return operatorBrokerUrl(now, await loadOrCreateSecrets(project.secretsFile), env);
      },
      onProblem,
    }),
    startProbeMeter({
      async gatewayUrl() {
        const { status, gatewayUrl } = state();
        const isUp = status === 'ready' || status === 'degraded';
        if (!isProbing || !isUp || gatewayUrl === '' || (await isRunInProgress(project))) return undefined;
        return gatewayUrl;
      },
      onProblem,
    }),
  ];
  const resource = {
    'service.name': 'shopctl',
    'service.instance.id': 'supervisor',
    'service.version': VERSION,
    'process.pid': process.pid,
    'process.creation.time': new Date(performance.timeOrigin).toISOString(),
  };
  const report = () =>
    takeMetrics(
      reportOf(
        resource,
        PLATFORM_METER,
        meters.flatMap((meter) => meter.metrics()),
      ),
    );
  const reporting = setInterval(report, REPORT_EVERY_MS);
  return {
    handle: async () => false,
    activeFaults: () => [],
    async end() {
      clearInterval(reporting);
      const ends = await Promise.allSettled(meters.map((meter) => meter.end()));
      const problems = ends.flatMap((end) => (end.status === 'rejected' ? [messageOf(end.reason)] : []));
      if (problems.length > 0) throw new Error(problems.join('; '));
    },
  };
}
