import { setTimeout as delay } from 'node:timers/promises';
import { lookAtRecent, type RecentLook } from '../../audit/recent.ts';
import type { ChaosExtension } from '../../chaos/supervise.ts';
import type { DeployExtension } from '../../deploy/supervise.ts';
import { CliError, messageOf } from '../../errors.ts';
import type { Pager } from '../../pager/pager.ts';
import type { Asked, ChangeLog } from '../../platform/change-log.ts';
import { operatorBrokerUrl, operatorDatabaseUrls } from '../../platform/connection.ts';
import type { ExtensionContext } from '../../platform/supervisor-extension.ts';
import { loadOrCreateSecrets } from '../../providers/secrets.ts';
import { systemClock } from '../../shared/clock.ts';
import { type ShopDatabases, withShopDatabases } from '../../shop/databases.ts';
import { createGatewayClient, RESPONSE_LIMIT_MS } from '../../shop/gateway-client.ts';
import { awaitTrace } from '../../shop/order-trace.ts';
import { createPrometheusClient } from '../../shop/prometheus.ts';
import { outboxTypesIn } from '../../shop/published-events.ts';
import { unshippedOf } from '../../shop/shipments-table.ts';
import { createBackend } from '../../trace/backend.ts';
import { expectedTree, flatten, loadContract } from '../../trace/contract.ts';
import type { DrillPorts, Injected } from '../engine/ports.ts';
import { openAlerts } from './alerts-of-round.ts';
import { findEvidence } from './evidence.ts';
import { placeAdmitted } from './place-admitted.ts';
import { publishMalformed } from './publish-malformed.ts';
import { type OperatorState, restoreOperatorState } from './restore.ts';
import { switchFlagOn } from './switch-flag.ts';

/** What a supervisor gives to a round. */
export interface LiveOptions {
  readonly context: ExtensionContext & { readonly env: NodeJS.ProcessEnv };
  readonly chaos: Pick<ChaosExtension, 'injectHidden'>;
  readonly deploys: Pick<DeployExtension, 'deployAltered' | 'releases' | 'restore'>;
  readonly pager: Pick<Pager, 'alerts'>;
  readonly changes: ChangeLog;
  /** When the round began. */
  readonly startedAt: Date;
  readonly before: OperatorState;
}

/** The user of decoys, who acts beside the trainee. Its changes are no actions of the round. */
export const COLLEAGUE: Asked = { by: { user: 'colleague', source: 'command line' } };
/** Reverts at the end what operators changed. */
const DRILL: Asked = { by: { user: 'drill', source: 'drill' }, reason: 'the drill is over' };

/** One question to Prometheus, which is asked once a second, ms. */
const MEASURE_LIMIT_MS = 900;
/** How long the trace of the proof may take to be complete, ms. */
const TRACE_LIMIT_MS = 15_000;
/** Orders of a round are compared until they are finished, at most so long, ms. */
const BALANCE_LIMIT_MS = 15_000;
const BALANCE_EVERY_MS = 1_500;
const INVARIANT_OF_SHIPMENTS = 'I7';

/** A round on the platform of this supervisor. */
export function createLivePorts(options: LiveOptions): DrillPorts {
  const { context, chaos, deploys, pager, changes, startedAt, before } = options;
  const releases = deploys.releases();
  const { project, env, state } = context;
  const secrets = () => loadOrCreateSecrets(project.secretsFile);
  const place: DrillPorts['place'] = ({ key, customer, lines }) =>
    createGatewayClient(gatewayOf(context)).placeOrder(
      { customer, lines },
      { idempotencyKey: key, timeoutMs: RESPONSE_LIMIT_MS },
    );

  async function withDatabases<T>(work: (databases: ShopDatabases) => Promise<T>): Promise<T> {
    return withShopDatabases({ databaseUrls: operatorDatabaseUrls(state(), await secrets()) }, work);
  }

  async function look(): Promise<RecentLook> {
    const databaseUrls = operatorDatabaseUrls(state(), await secrets());
    return withShopDatabases({ databaseUrls }, (databases) =>
      lookAtRecent({ databaseUrls, databases }, startedAt.getTime()),
    );
  }

  return {
    clock: systemClock,
    place,

    unshipped: (orderIds) => withDatabases((databases) => unshippedOf(databases, orderIds)),

    async measure(query) {
      const url = state().instances.find(({ service }) => service === 'prometheus')?.url;
      if (url === undefined) return undefined;
      const [sample] = await createPrometheusClient(url, MEASURE_LIMIT_MS).queryInstant(query);
      return sample?.value;
    },

    trace: async (traceId) => (await createBackend(state().telemetryUrl).trace(traceId)).spans,

    firing: () => openAlerts(pager).map(({ name }) => name),

    async inject(injection, ttlMs): Promise<Injected> {
      if (injection.type === 'message') {
        await publishMalformed(operatorBrokerUrl(state(), await secrets(), env), injection.count);
        // What was refused stays until an operator decides about it.
        return { witness: `${injection.count} malformed events were confirmed by the broker`, revert: async () => {} };
      }
      if (injection.type === 'release') {
        const prelude = `process.env.SHOP_SEEDED_BUGS = 'built-in:${injection.bug}';`;
        const { to } = await deploys.deployAltered(injection.service, prelude, COLLEAGUE);
        return { witness: `${injection.service} runs ${to}`, revert: () => deploys.restore(releases, DRILL) };
      }
      if (injection.type === 'flag') {
        const { flag, percent } = injection;
        await switchFlagOn(project, { name: flag, percent }, changes, COLLEAGUE);
        // Flags are restored with everything else that operators can change.
        return { witness: `${flag} is on for ${percent} % of the orders`, revert: async () => {} };
      }
      const { fault, target, parameters } = injection;
      const lease = await chaos.injectHidden({ fault, target, parameters, ttlMs, hidden: true });
      const witness = lease.witness().then(({ verdict, evidence }) => (verdict === 'observed' ? evidence : undefined));
      return { witness, revert: (why) => lease.revert(why) };
    },

    async decoy(what, target) {
      if (what === 'restart') return context.operator.act(target, 'restart', COLLEAGUE);
      return switchFlagOn(project, { name: target }, changes, COLLEAGUE);
    },

    async prove() {
      const contract = await loadContract('confirmed', project.root);
      const parameters = 'distinctProducts' in contract.parameters ? { distinctProducts: 1 } : {};
      const expectedSpans = flatten(expectedTree(contract, parameters)).length;
      const client = createGatewayClient(gatewayOf(context));
      const order = { customer: 'Customer 1', lines: [{ productId: 1, quantity: 1 }] };
      const response = await placeAdmitted(
        () => client.placeOrder(order, { timeoutMs: RESPONSE_LIMIT_MS }),
        systemClock,
      ).catch((error: unknown) => {
        if (error instanceof CliError) return error;
        throw error;
      });
      if (response instanceof CliError) return { status: response.code, spans: 0, expectedSpans };
      if (response.kind === 'problem') return { status: response.problem.code, spans: 0, expectedSpans };
      const { traceId } = response;
      if (traceId === null) return { status: response.status, spans: 0, expectedSpans };
      const { spans, note } = await awaitTrace({
        backend: createBackend(state().telemetryUrl),
        traceId,
        contract: 'confirmed',
        distinctProducts: 1,
        timeoutMs: TRACE_LIMIT_MS,
        root: project.root,
        project,
        outboxTypes: (id) => withDatabases((databases) => outboxTypesIn(databases)(id)),
        signal: AbortSignal.timeout(TRACE_LIMIT_MS * 2),
      });
      // As many spans in another shape are not the contract.
      return {
        status: response.status,
        spans: note === null ? spans : Math.min(spans, expectedSpans - 1),
        expectedSpans: note === null ? spans : expectedSpans,
      };
    },

    async balance() {
      const deadline = systemClock.now() + BALANCE_LIMIT_MS;
      let last = await look();
      while ((last.unfinishedSince !== undefined || last.violations.length > 0) && systemClock.now() < deadline) {
        await delay(BALANCE_EVERY_MS);
        last = await look();
      }
      if (last.unknown.size > 0) throw new Error([...last.unknown.values()].join('; '));
      const lost = last.violations.filter(
        ({ invariant, kind }) => invariant === INVARIANT_OF_SHIPMENTS && kind === 'lost',
      );
      const lostOrders = new Set(lost.map(({ orderId }) => orderId));
      const others = last.violations.filter(({ orderId }) => !lostOrders.has(orderId));
      return { lost: lostOrders.size, doubled: new Set(others.map(({ orderId }) => orderId)).size };
    },

    async restore() {
      const left = await restoreOperatorState(before, { context, changes, asked: DRILL });
      const releasesLeft = await deploys.restore(releases, DRILL).then(
        () => [],
        (error: unknown) => [`releases: ${messageOf(error)}`],
      );
      return [...left, ...releasesLeft];
    },

    evidence: (reference) => findEvidence(reference, { project, pager, state, withDatabases, now: () => new Date() }),
  };
}

function gatewayOf({ state }: Pick<ExtensionContext, 'state'>): string {
  const { gatewayUrl } = state();
  if (gatewayUrl === '') throw new CliError({ code: 'gateway_unreachable', what: 'no gateway was started' });
  return gatewayUrl;
}
