import type { Change } from './change-log.ts';
import type { OperationRequest } from './operations.ts';
import type { ChangedSetting } from './settings.ts';
import type { InstanceState, PlatformState } from './state.ts';

/** What was changed; who asked for it, and how it ended, is added where that is known. */
export type Effect = Pick<Change, 'kind' | 'target' | 'from' | 'to' | 'reason'>;

type Seen = Pick<PlatformState, 'status' | 'instances' | 'replicas' | 'direct' | 'runtime' | 'instrumentation'>;

/** What an `up` reported beside the states before and after it. */
export interface UpFacts {
  readonly settings: readonly ChangedSetting[];
  /** What was applied to components that went on running: `migration orders/0007_refunds`. */
  readonly applied: readonly string[];
  /** Releases that contract migrations gave up. */
  readonly pointsOfNoReturn: readonly Effect[];
  /** Instances that were replaced by others of the same name. */
  readonly replaced: ReadonlySet<string>;
}

/** What an `up` changed. Starting what did not run is one change, whatever it consists of. Pure. */
export function changesOfUp(before: Seen, after: Seen, facts: UpFacts): readonly Effect[] {
  if (before.status === 'stopped') {
    const start: Effect = { kind: 'start', target: 'platform', from: 'stopped', to: after.status };
    return after.status === 'stopped' ? facts.pointsOfNoReturn : [start, ...facts.pointsOfNoReturn];
  }
  return [
    ...facts.settings.map(({ name, from, to }) => ({ kind: 'configuration' as const, target: name, from, to })),
    ...(['direct', 'runtime', 'instrumentation'] as const)
      .filter((name) => before[name] !== after[name])
      .map((name) => ({
        kind: 'configuration' as const,
        target: name,
        from: String(before[name]),
        to: String(after[name]),
      })),
    ...scales(before, after),
    ...facts.applied.map(appliedChange),
    ...facts.pointsOfNoReturn,
    ...replacements(before, after, facts.replaced),
    ...startsAndStops(before, after),
  ];
}

/** What `start`, `stop` or `restart` of a service, an instance or a component changed. Pure. */
export function changesOfAction(
  action: 'start' | 'stop' | 'restart',
  target: string,
  before: readonly InstanceState[],
  after: readonly InstanceState[],
): readonly Effect[] {
  const concerned = (instances: readonly InstanceState[]) =>
    instances.filter(({ service, name }) => service === target || name === target);
  const [old, now] = [concerned(before), concerned(after)];
  if (old.length === 0) return [];
  const [from, to] = [statuses(old), statuses(now)];
  if (action !== 'restart' && from === to) return [];
  return [{ kind: action, target, from, to }, ...deploy(target, old, now)];
}

/** What `scale`, `drain` or `reroute` changed; nothing where it was so before, or was undone. Pure. */
export function changesOfOperation(
  operation: OperationRequest,
  before: Pick<PlatformState, 'instances' | 'edges' | 'replicas'>,
  after: Pick<PlatformState, 'instances' | 'edges' | 'replicas'>,
): readonly Effect[] {
  if (operation.kind === 'scale') return scales(before, after);
  const { kind } = operation;
  const target = kind === 'drain' ? operation.instance : operation.edge;
  const [from, to] = [before, after].map(({ instances, edges }) =>
    kind === 'drain'
      ? (instances.find(({ name }) => name === target)?.upstream?.state ?? null)
      : (edges.find(({ name }) => name === target)?.via ?? 'primary'),
  ) as [string | null, string | null];
  return from === to ? [] : [{ kind, target, from, to }];
}

function scales(before: Pick<Seen, 'replicas'>, after: Pick<Seen, 'replicas'>): readonly Effect[] {
  const names = new Set([...Object.keys(before.replicas), ...Object.keys(after.replicas)]);
  return [...names].flatMap((target) => {
    const [from, to] = [before.replicas[target] ?? 1, after.replicas[target] ?? 1];
    return from === to ? [] : [{ kind: 'scale' as const, target, from: String(from), to: String(to) }];
  });
}

function appliedChange(what: string): Effect {
  const [, target, to] = /^migration ([^/]+)\/(.+)$/.exec(what) ?? [];
  if (target !== undefined && to !== undefined) return { kind: 'migration', target, from: null, to };
  return { kind: 'configuration', target: what, from: null, to: 'applied' };
}

/** Services whose instances were replaced: by other code, or under another configuration. */
function replacements(before: Seen, after: Seen, replaced: ReadonlySet<string>): readonly Effect[] {
  const isReplaced = ({ name }: InstanceState) => replaced.has(name);
  const now = Map.groupBy(after.instances.filter(isReplaced), ({ service }) => service);
  return [...now].flatMap(([service, instances]) => {
    const names = new Set(instances.map(({ name }) => name));
    const old = before.instances.filter(({ name }) => names.has(name));
    const deploys = deploy(service, old, instances);
    if (deploys.length > 0) return deploys;
    const why = 'its configuration changed';
    return [{ kind: 'restart' as const, target: service, from: statuses(old), to: statuses(instances), reason: why }];
  });
}

/** Another number of replicas is a scale, not a start or a stop. */
function startsAndStops(before: Seen, after: Seen): readonly Effect[] {
  const services = new Set([...before.instances, ...after.instances].map(({ service }) => service));
  return [...services].flatMap((target): Effect[] => {
    const of = ({ instances }: Seen) => instances.filter(({ service }) => service === target);
    const [old, now] = [of(before), of(after)];
    if (now.length === 0) return [{ kind: 'stop', target, from: statuses(old), to: null }];
    const [ran, runs] = [old.some(isWanted), now.some(isWanted)];
    return ran || !runs ? [] : [{ kind: 'start', target, from: statuses(old), to: statuses(now) }];
  });
}

function isWanted({ status }: InstanceState): boolean {
  return status !== 'stopped';
}

function deploy(target: string, before: readonly InstanceState[], after: readonly InstanceState[]): readonly Effect[] {
  const codes = (instances: readonly InstanceState[]) => distinct(instances.map(({ code }) => code ?? ''));
  if (codes(before) === codes(after)) return [];
  return [{ kind: 'deploy', target, from: distinct(before.map(buildOf)), to: distinct(after.map(buildOf)) }];
}

/** Its version with its build, as Semantic Versioning writes it: `1.4.0+3f2a9c1b`. */
function buildOf({ version, code = 'unknown' }: InstanceState): string {
  return version === undefined ? code : `${version}+${code}`;
}

/** `ready`, or `ready, unready` for several replicas; null where there is none. */
function statuses(instances: readonly InstanceState[]): string | null {
  return instances.length === 0 ? null : distinct(instances.map(({ status }) => status));
}

function distinct(texts: readonly string[]): string {
  return [...new Set(texts)].join(', ');
}
