import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';

const root = cloneRoot();
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

interface Attach {
  readonly type: string;
  readonly request: string;
  readonly address: string;
  readonly port: number;
  readonly outFiles: readonly string[];
}

describe('.vscode/launch.json', () => {
  const { configurations } = JSON.parse(textOf('.vscode/launch.json')) as { configurations: readonly Attach[] };

  it('attaches to where the first inspector listens, on loopback', () => {
    for (const { type, request, address, port } of configurations) {
      expect({ type, request, address }).toEqual({ type: 'node', request: 'attach', address: '127.0.0.1' });
      expect(textOf('docs/cli.md')).toContain(`(default: ${port}, or the next free ones)`);
      expect(textOf('docs/debugging.md')).toContain(`127.0.0.1:${port}`);
    }
    expect(configurations).not.toEqual([]);
  });

  it('looks for source maps beside the bundles of every service', () => {
    const patterns = configurations.flatMap(({ outFiles }) => outFiles);
    for (const service of serviceNames) {
      const bundle = `\${workspaceFolder}/dist/services/${service}.cjs`;
      expect(patterns.some((pattern) => matchesGlob(bundle, pattern))).toBe(true);
      expect(existsSync(join(root, `services/${service}/src/main.ts`))).toBe(true);
    }
  });
});
