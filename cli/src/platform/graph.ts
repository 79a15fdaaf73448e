/** Something that can be started once what it waits for is ready. */
export interface GraphNode {
  readonly name: string;
  /** Must run too when this one runs. Never circular. */
  readonly dependsOn: readonly string[];
}

/** The named nodes and everything they depend on, in the order of `nodes`. Throws RangeError for an unknown name. */
export function withDependencies<N extends GraphNode>(names: readonly string[], nodes: readonly N[]): readonly N[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const wanted = new Set<string>();
  const visit = (name: string) => {
    if (wanted.has(name)) return;
    const node = byName.get(name);
    if (!node) throw new RangeError(`unknown node ${name}`);
    wanted.add(name);
    node.dependsOn.forEach(visit);
  };
  names.forEach(visit);
  return nodes.filter((node) => wanted.has(node.name));
}

/**
 * Groups to stop one after the other: everything in a group can stop concurrently, dependents before what they depend
 * on. Dependencies outside `nodes` do not count. Throws RangeError for a cycle.
 */
export function stopOrder<N extends GraphNode>(nodes: readonly N[]): readonly (readonly N[])[] {
  let left = [...nodes];
  const groups: N[][] = [];
  while (left.length > 0) {
    const needed = new Set(left.flatMap((node) => node.dependsOn));
    const group = left.filter((node) => !needed.has(node.name));
    if (group.length === 0) throw new RangeError(`circular dependency among ${left.map((n) => n.name).join(', ')}`);
    groups.push(group);
    left = left.filter((node) => needed.has(node.name));
  }
  return groups;
}
