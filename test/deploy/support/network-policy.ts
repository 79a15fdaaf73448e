import { type Container, type Labels, type Manifest, ofKind, type Selector, selects } from './manifest.ts';

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: number | string }[];
}

interface NetworkPolicy {
  readonly podSelector: Selector;
  readonly policyTypes: readonly ('Ingress' | 'Egress')[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

/** One end of a connection: pods of the shop's namespace with these labels and ports. */
export interface Pod {
  readonly labels: Labels;
  readonly ports: Container['ports'];
}

/**
 * May `from` open a connection to this port of `to`, as the API documents it? What no policy selects is open; what one
 * selects is open to what any of its rules names.
 */
export function mayConnect(manifests: readonly Manifest[], from: Pod, to: Pod, port: number): boolean {
  const out = rulesFor(manifests, from, 'Egress');
  const into = rulesFor(manifests, to, 'Ingress');
  const isPort = (rule: Rule) => matchesPort(rule, to, port);
  return (
    (out === 'open' || out.some((rule) => isPort(rule) && anyPod(rule.to, to))) &&
    (into === 'open' || into.some((rule) => isPort(rule) && anyPod(rule.from, from)))
  );
}

/** Ports to which pods may connect outside of the namespace, by what the rule names: a subnet, or a namespace's labels. */
export function waysOut(manifests: readonly Manifest[], from: Pod): readonly string[] {
  const out = rulesFor(manifests, from, 'Egress');
  if (out === 'open') return ['anywhere'];
  return out.flatMap(({ to, ports }) =>
    (to ?? [{ ipBlock: { cidr: 'anywhere' } }]).flatMap((peer) => {
      const place = peer.ipBlock?.cidr ?? labelsOf(peer.namespaceSelector);
      return place === undefined ? [] : (ports ?? [{ port: 'any' }]).map(({ port }) => `${place}:${port}`);
    }),
  );
}

function labelsOf(selector: Selector | undefined): string | undefined {
  if (selector === undefined) return undefined;
  return Object.entries(selector.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function rulesFor(manifests: readonly Manifest[], pod: Pod, type: 'Ingress' | 'Egress'): readonly Rule[] | 'open' {
  const policies = ofKind<NetworkPolicy>(manifests, 'NetworkPolicy')
    .map(({ spec }) => spec)
    .filter(({ policyTypes, podSelector }) => policyTypes.includes(type) && selects(podSelector, pod.labels));
  if (policies.length === 0) return 'open';
  return policies.flatMap(({ ingress = [], egress = [] }) => (type === 'Ingress' ? ingress : egress));
}

/** Peers inside the namespace: those without a namespace or an address. A rule without peers means all. */
function anyPod(peers: readonly Peer[] | undefined, pod: Pod): boolean {
  if (peers === undefined) return true;
  return peers.some(
    ({ podSelector, namespaceSelector, ipBlock }) =>
      podSelector !== undefined &&
      namespaceSelector === undefined &&
      ipBlock === undefined &&
      selects(podSelector, pod.labels),
  );
}

function matchesPort({ ports }: Rule, target: Pod, number: number): boolean {
  if (ports === undefined) return true;
  return ports.some(({ port }) =>
    typeof port === 'number'
      ? port === number
      : target.ports?.some((own) => own.name === port && own.containerPort === number),
  );
}
