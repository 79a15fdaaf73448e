import type { ServerResponse } from 'node:http';
import { lookAtRecent } from '../audit/recent.ts';
import { messageOf } from '../errors.ts';
import { reportOf } from '../otlp/own-metrics.ts';
import { operatorBrokerUrl, operatorDatabaseUrls } from '../platform/connection.ts';
import { readJson, sendJson } from '../platform/control-api.ts';
import { isRunInProgress } from '../platform/run-lock.ts';
import { wantsProbe } from '../platform/settings.ts';
import type { ExtensionContext, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { withShopDatabases } from '../shop/databases.ts';
import { VERSION } from '../version.ts';
import { AUDIT_EVERY_MS } from './audit-client.ts';
import { startAuditMeter } from './audit-meter.ts';
import { startProbeMeter } from './probe-meter.ts';
import { startQueueMeter } from './queue-meter.ts';

/** The meter of what the supervisor measures. */
const PLATFORM_METER = 'Shop.Platform';

/** What a supervisor measures, for its other extensions. */
export interface MonitoringExtension extends SupervisorExtension {
  /** Has recent orders audited until what it returns is called. */
  auditRecent(): () => void;
}

/** As often as the services report. */
const REPORT_EVERY_MS = 1_000;

/**
 * Measures the platform from outside its services, and stores that beside what they report, as the process `shopctl`. `POST
 * /v1/audit`: `{everyMs?}`, audits recent orders this often, or not any more. `POST /v1/audit/watch`: `{everyMs}`, the same while the
 * connection lasts; NDJSON of AuditEvent.
 */
export async function openMonitoring(
  context: ExtensionContext & { readonly env: NodeJS.ProcessEnv },
): Promise<MonitoringExtension> {
  const { project, env, state, takeMetrics } = context;
  const onProblem = (message: string) => console.error(`supervisor: ${message}`);
  const isProbing = wantsProbe(env);
  const secrets = () => loadOrCreateSecrets(project.secretsFile);
  const audits = startAuditMeter({
    async look(sinceMs) {
      const databaseUrls = operatorDatabaseUrls(state(), await secrets());
      return withShopDatabases({ databaseUrls }, (databases) => lookAtRecent({ databaseUrls, databases }, sinceMs));
    },
    onProblem,
  });
  const meters = [
    audits,
    startQueueMeter({
      async brokerUrl() {
        const now = state();
        const broker = now.instances.find(({ name }) => name === 'rabbitmq');
        if (broker?.status !== 'ready' && broker?.status !== 'unready') return undefined;
        return operatorBrokerUrl(now, await secrets(), env);
      },
      onProblem,
    }),
    startProbeMeter({
      async gatewayUrl() {
        const { status, gatewayUrl, instances } = state();
        const isUp = status === 'ready' || status === 'degraded';
        if (!isProbing || !isUp || gatewayUrl === '') return undefined;
        // A run counts requests. One on a platform with alerts is about them, and an alert is made of the probe.
        const hasAlerts = instances.some(({ service }) => service === 'prometheus');
        return hasAlerts || !(await isRunInProgress(project)) ? gatewayUrl : undefined;
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
  const watching = new Set<ServerResponse>();
  const reporting = setInterval(report, REPORT_EVERY_MS);
  return {
    auditRecent: () => audits.watch(AUDIT_EVERY_MS, () => undefined),
    async handle(route, request, response) {
      if (route === 'POST /v1/audit') {
        const { everyMs } = await readJson<{ everyMs?: number }>(request);
        audits.setAlways(everyMs);
        sendJson(response, {});
      } else if (route === 'POST /v1/audit/watch') {
        const { everyMs } = await readJson<{ everyMs: number }>(request);
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.flushHeaders();
        const leave = audits.watch(everyMs, (event) => void response.write(`${JSON.stringify(event)}\n`));
        response.once('close', leave);
        watching.add(response);
        response.once('close', () => watching.delete(response));
      } else return false;
      return true;
    },
    activeFaults: () => [],
    async end() {
      clearInterval(reporting);
      for (const response of watching) response.end();
      const ends = await Promise.allSettled(meters.map((meter) => meter.end()));
      const problems = ends.flatMap((end) => (end.status === 'rejected' ? [messageOf(end.reason)] : []));
      if (problems.length > 0) throw new Error(problems.join('; '));
    },
  };
}
