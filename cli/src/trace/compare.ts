import { type ExpectedSpan, flatten } from './contract.ts';
import { nodesOf, type TraceNode, type TraceSpan, type TraceTree } from './tree.ts';

export type FaultKind =
  | 'missing'
  | 'extra'
  | 'misplaced'
  | 'misnamed'
  | 'wrongKind'
  | 'wrongService'
  | 'wrongDatabase'
  | 'wrongError';

/** One difference between a trace and its contract. */
export interface Fault {
  readonly kind: FaultKind;
  /** Whole sentence: what is expected, what is there. */
  readonly message: string;
  /** Undefined for an extra span. */
  readonly expected: ExpectedSpan | undefined;
  /** Undefined for a missing span. */
  readonly actual: TraceNode | undefined;
}

export interface Comparison {
  readonly faults: readonly Fault[];
  /** The recorded span that stands for an expected one. */
  readonly matches: ReadonlyMap<ExpectedSpan, TraceNode>;
  /** Spans that the contract does not know, parents first. */
  readonly extras: readonly TraceNode[];
  /** Spans that the contract allows to be lost, and that are. */
  readonly lost: ReadonlySet<ExpectedSpan>;
}

type Difference = Exclude<FaultKind, 'missing' | 'extra' | 'misplaced'>;

/** How much a difference counts when siblings are paired; a span that is missing or too many counts ABSENT. */
const WEIGHTS: Readonly<Record<Difference, number>> = {
  misnamed: 2,
  wrongService: 2,
  wrongKind: 1,
  wrongDatabase: 1,
  wrongError: 1,
};
const ABSENT = 3;

/**
 * Compares a trace with the tree its contract expects. The order of siblings means nothing; those of equal names are
 * paired so that the fewest differences are left. Pure. There is no fault exactly when the trees are equal (spans that
 * may be lost aside).
 */
export function compareTrace(expected: ExpectedSpan, tree: TraceTree): Comparison {
  const costs = createCosts();
  const faults: Fault[] = [];
  const matches = new Map<ExpectedSpan, TraceNode>();
  const lost = new Set<ExpectedSpan>();
  const unclaimed = new Set(nodesOf(tree));
  const unmet: Unmet[] = [];

  function claim(span: ExpectedSpan, node: TraceNode): void {
    matches.set(span, node);
    unclaimed.delete(node);
    for (const kind of differences(span, node.span)) faults.push(differenceFault(kind, span, node));
    claimSiblings(span.children, node.children, span);
  }

  function claimSiblings(
    spans: readonly ExpectedSpan[],
    nodes: readonly TraceNode[],
    parent: ExpectedSpan | undefined,
  ): void {
    const pairs = costs.pair(
      spans,
      nodes.filter((node) => unclaimed.has(node)),
    );
    for (const [span, node] of pairs) claim(span, node);
    for (const span of spans) if (!matches.has(span)) unmet.push({ span, parent });
  }

  claimSiblings([expected], tree.roots, undefined);
  // Spans not found where they belong are looked for everywhere else. The largest go first: their children are then
  // found below them, and not taken for a small span of the same name that is missing elsewhere.
  for (let next = takeLargest(unmet); next !== undefined; next = takeLargest(unmet)) {
    const { span, parent } = next;
    const node = costs.closest(span, span.mayBeLost ? [...unclaimed].filter(({ orphan }) => orphan) : unclaimed);
    if (node !== undefined) {
      claim(span, node);
      // Under a parent that is itself missing, an orphan is where it belongs.
      const parentIsAbsent = parent !== undefined && !matches.has(parent);
      if (!(node.orphan && parentIsAbsent)) faults.push(misplacedFault(span, parent, node));
      continue;
    }
    if (span.mayBeLost) lost.add(span);
    else faults.push(missingFault(span, parent));
    unmet.push(...span.children.map((child) => ({ span: child, parent: span })));
  }

  const extras = [...unclaimed];
  for (const node of extras) faults.push(extraFault(node));
  return { faults, matches, extras, lost };
}

/** An expected span that was not found where it belongs. */
interface Unmet {
  readonly span: ExpectedSpan;
  readonly parent: ExpectedSpan | undefined;
}

/** Removes the one with the most spans below it; of equals the first. */
function takeLargest(unmet: Unmet[]): Unmet | undefined {
  const sizes = unmet.map(({ span }) => absenceOf(span));
  return unmet.splice(sizes.indexOf(Math.max(...sizes)), 1)[0];
}

function differences(span: ExpectedSpan, actual: TraceSpan): Difference[] {
  const found: Difference[] = [];
  if (span.name !== actual.name) found.push('misnamed');
  if (span.service !== actual.service) found.push('wrongService');
  if (span.kind !== actual.kind) found.push('wrongKind');
  if (span.database !== actual.database) found.push('wrongDatabase');
  if (span.error !== actual.error) found.push('wrongError');
  return found;
}

interface Costs {
  /** The pairs of siblings that leave the fewest differences; what is in no pair is missing or too many. */
  pair(spans: readonly ExpectedSpan[], nodes: readonly TraceNode[]): [ExpectedSpan, TraceNode][];
  /** The node that is this span but for its place and outcome. */
  closest(span: ExpectedSpan, nodes: Iterable<TraceNode>): TraceNode | undefined;
}

/** Costs of pairs, each computed once per comparison. */
function createCosts(): Costs {
  const known = new Map<ExpectedSpan, Map<TraceNode, number>>();

  function costOf(span: ExpectedSpan, node: TraceNode): number {
    const ofSpan = known.get(span) ?? new Map<TraceNode, number>();
    known.set(span, ofSpan);
    const cost = ofSpan.get(node) ?? computeCost(span, node);
    ofSpan.set(node, cost);
    return cost;
  }

  function computeCost(span: ExpectedSpan, node: TraceNode): number {
    const own = differences(span, node.span);
    if (own.length > 0 && !isAltered(own, span, node)) return Number.POSITIVE_INFINITY;
    const pairs = pair(span.children, node.children);
    const spanSides = new Set(pairs.map(([child]) => child));
    const nodeSides = new Set(pairs.map(([, child]) => child));
    return (
      sum(own.map((kind) => WEIGHTS[kind])) +
      sum(pairs.map(([childSpan, childNode]) => costOf(childSpan, childNode))) +
      sum(span.children.filter((child) => !spanSides.has(child)).map(absenceOf)) +
      sum(node.children.filter((child) => !nodeSides.has(child)).map(surplusOf))
    );
  }

  /** Cheapest pairs first: exact for equal subtrees, which decides whether a trace meets its contract at all. */
  function pair(spans: readonly ExpectedSpan[], nodes: readonly TraceNode[]): [ExpectedSpan, TraceNode][] {
    const candidates = spans
      .flatMap((span) => nodes.map((node) => ({ span, node, cost: costOf(span, node) })))
      .filter(({ span, node, cost }) => cost < absenceOf(span) + surplusOf(node))
      .sort((a, b) => a.cost - b.cost);
    const taken = new Set<ExpectedSpan | TraceNode>();
    const pairs: [ExpectedSpan, TraceNode][] = [];
    for (const { span, node } of candidates) {
      if (taken.has(span) || taken.has(node)) continue;
      taken.add(span).add(node);
      pairs.push([span, node]);
    }
    return pairs;
  }

  function closest(span: ExpectedSpan, nodes: Iterable<TraceNode>): TraceNode | undefined {
    const same = [...nodes].filter((node) => isSame(span, node.span));
    return same.sort((a, b) => costOf(span, a) - costOf(span, b))[0];
  }

  return { pair, closest };
}

/** The same span, whatever became of it. */
function isSame(span: ExpectedSpan, actual: TraceSpan): boolean {
  return differences(span, actual).every((kind) => kind === 'wrongError');
}

/**
 * True when a node that differs is likely this span with something wrong, rather than another one. It has the name, or
 * everything but the name; and neither is as expected deeper in the other's subtree.
 */
function isAltered(own: readonly Difference[], span: ExpectedSpan, node: TraceNode): boolean {
  if (own.includes('misnamed') && own.some((kind) => kind !== 'misnamed' && kind !== 'wrongError')) return false;
  if (own.every((kind) => kind === 'wrongError')) return true;
  const isDeeper = node.children.some((child) => contains(child, span));
  return !isDeeper && !span.children.flatMap(flatten).some((child) => isSame(child, node.span));
}

function contains(node: TraceNode, span: ExpectedSpan): boolean {
  return isSame(span, node.span) || node.children.some((child) => contains(child, span));
}

function absenceOf(span: ExpectedSpan): number {
  return ABSENT + sum(span.children.map(absenceOf));
}

function surplusOf(node: TraceNode): number {
  return ABSENT + sum(node.children.map(surplusOf));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const DIFFERENCE_TEXTS: Readonly<Record<Difference, (span: ExpectedSpan, actual: TraceSpan) => string>> = {
  misnamed: (span, actual) => `is named "${actual.name}", expected "${span.name}"`,
  wrongService: (span, actual) => `is of ${actual.service}, expected ${span.service}`,
  wrongKind: (span, actual) => `is of kind ${actual.kind}, expected ${span.kind}`,
  wrongDatabase: (span, actual) => `is on ${actual.database ?? 'no database'}, expected ${span.database ?? 'none'}`,
  wrongError: (span) => (span.error ? 'is not in error, as it should be' : 'is in error'),
};

function differenceFault(kind: Difference, span: ExpectedSpan, node: TraceNode): Fault {
  const detail = kind === 'wrongError' && node.span.statusMessage ? ` (${node.span.statusMessage})` : '';
  const message = `${describe(node.span)} ${DIFFERENCE_TEXTS[kind](span, node.span)}${detail}`;
  return { kind, message, expected: span, actual: node };
}

function missingFault(span: ExpectedSpan, parent: ExpectedSpan | undefined): Fault {
  const place = parent === undefined ? 'at the root' : `under ${describe(parent)}`;
  return { kind: 'missing', message: `${describe(span)} is missing ${place}`, expected: span, actual: undefined };
}

function misplacedFault(span: ExpectedSpan, parent: ExpectedSpan | undefined, node: TraceNode): Fault {
  const wanted = parent === undefined ? 'at the root' : `under ${describe(parent)}`;
  const message = `${describe(node.span)} is ${placeOf(node)}, expected ${wanted}`;
  return { kind: 'misplaced', message, expected: span, actual: node };
}

function extraFault(node: TraceNode): Fault {
  const message = `${describe(node.span)} is not expected ${placeOf(node)}`;
  return { kind: 'extra', message, expected: undefined, actual: node };
}

function placeOf(node: TraceNode): string {
  if (node.parent !== undefined) return `under ${describe(node.parent.span)}`;
  return node.orphan ? 'under a span that is not in the trace' : 'at the root';
}

function describe({ service, name }: { readonly service: string; readonly name: string }): string {
  return `${service} "${name}"`;
}
