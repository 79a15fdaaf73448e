import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** One import of a file by another: of values, of types, or lazily by `import()`. Paths from the clone's root. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

const root = new URL('../../', import.meta.url);

/** Relative specifiers of `import ... from`, `export ... from`, `import '...'` and `import('...')`. */
const SPECIFIER = /(?:\bfrom|\bimport)[\s(]*'(\.[^']+)'/g;

/** Files that ship; tests and what only they use may reach further. */
export function isProduction(file: string): boolean {
  return !/\.test\.ts$|\/testing[/.]/.test(file);
}

/** Every relative import of the TypeScript files below a folder, given from the clone's root. */
export function importsBelow(folder: string): readonly Import[] {
  return sourcesBelow(folder).flatMap((from) => {
    const text = readFileSync(new URL(from, root), 'utf8');
    return [...text.matchAll(SPECIFIER)].map(([, specifier = '']) => ({
      from,
      to: posix.join(posix.dirname(from), specifier),
    }));
  });
}

/** The TypeScript files below a folder, from the clone's root. */
export function sourcesBelow(folder: string): readonly string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => posix.join(folder, file));
}

/** Groups of names that import each other, directly or through others; empty when no import leads back. */
export function circlesOf(imports: readonly Import[]): readonly (readonly string[])[] {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const reachable = new Map<string, ReadonlySet<string>>();
  for (const name of targets.keys()) reachable.set(name, reachableFrom(name, targets));
  const inCircle = [...reachable].filter(([name, names]) => names.has(name)).map(([name]) => name);
  const groups = Map.groupBy(inCircle, (name) =>
    inCircle.filter((other) => reachable.get(name)?.has(other) && reachable.get(other)?.has(name)).join(' '),
  );
  return [...groups.values()];
}

function reachableFrom(name: string, targets: ReadonlyMap<string, readonly Import[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const left = [name];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const { to } of targets.get(next) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      left.push(to);
    }
  }
  return reached;
}

/** The same of the files and folders that stand beside each other in some folder, whatever is inside them. */
export function circlesOfNeighbours(imports: readonly Import[]): readonly (readonly string[])[] {
  return circlesOf(
    imports.flatMap(({ from, to }) => {
      const [near, far] = [from.split('/'), to.split('/')];
      const fork = near.findIndex((part, index) => part !== far[index]);
      if (fork === -1) return [];
      return { from: near.slice(0, fork + 1).join('/'), to: far.slice(0, fork + 1).join('/') };
    }),
  );
}
