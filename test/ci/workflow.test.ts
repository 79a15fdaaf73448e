import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/*
 * Goal: the workflow of the forge checks what the scripts check, and nothing else.
 * Method: its commands beside the scripts that there are, and what it keeps beside the reports that they write.
 */
interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly with?: { readonly path?: string; readonly 'node-version'?: number };
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

const root = cloneRoot();
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const { on, permissions, jobs } = parse(textOf('.github/workflows/ci.yml')) as Workflow;
/** Without comments. */
const codeOf = (file: string) => textOf(file).replaceAll(/^\s*#.*$/gm, '');
const commandsOf = (job: string) => jobs[job]?.steps.flatMap(({ run }) => run ?? []);

describe('.github/workflows/ci.yml', () => {
  it('runs .ci/run and .ci/drills for each change, and .ci/nightly by schedule, and no other command', () => {
    expect(Object.keys(on)).toEqual(['push', 'pull_request', 'schedule', 'workflow_dispatch']);
    expect(Object.keys(jobs)).toEqual(['run', 'drills', 'nightly']);
    for (const job of Object.keys(jobs)) {
      expect(commandsOf(job)).toEqual([`.ci/${job}`]);
      accessSync(join(root, `.ci/${job}`), constants.X_OK);
    }
  });

  it('leaves out no script that is run automatically', () => {
    const scripts = readdirSync(join(root, '.ci')).map((name) => `.ci/${name}`);
    const run = Object.keys(jobs).flatMap((job) => commandsOf(job) ?? []);
    const inside = [...run, '.ci/docker'].map(codeOf).join('\n');
    // The others are sourced by these, or are a part of .ci/docker.
    const alone = scripts.filter((script) => !inside.includes(script));
    expect(alone.toSorted()).toEqual(run.toSorted());
  });

  it('has the Node of the clone, and may read only', () => {
    const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: { node: string } };
    const versions = Object.values(jobs).flatMap(({ steps }) =>
      steps.flatMap((step) => step.with?.['node-version'] ?? []),
    );
    expect(versions.map(String)).toEqual(Object.keys(jobs).map(() => dependencies.node.split('.')[0]));
    expect(permissions).toEqual({ contents: 'read' });
  });

  it.each(['drills', 'nightly'])('keeps the reports that .ci/%s writes, also after a failure', (job) => {
    const kept = jobs[job]?.steps.find(({ uses = '' }) => uses.startsWith('actions/upload-artifact'));
    expect(kept).toMatchObject({ if: 'always()', with: { path: '*-junit.xml' } });
    const written = codeOf(`.ci/${job}`).match(/--junit \S+/g) ?? [];
    expect(written.length).toBeGreaterThan(0);
    for (const option of written) expect(option).toMatch(/-junit\.xml$/);
  });
});
