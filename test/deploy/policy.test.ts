import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Found, findLinter, runProgram } from './support/programs.ts';
import { applied, cannotRender, renderText } from './support/render.ts';

const options = [
  '--kubernetes-version=v1.34',
  '--enable-optional-test=container-seccomp-profile,container-ports-check,container-memory-requests-equal-limits',
  // A limit on CPU slows a pod down while its node has time; memory has a limit.
  '--ignore-container-cpu-limit',
  // A release's tag never gets another image, so there is nothing to pull again.
  '--ignore-test=container-image-pull-policy',
  // It does not know KEDA's scalers; manifests.test.ts looks at all of them.
  '--ignore-test=deployment-replicas',
];

/** kube-score is built once, where it is not installed. */
const BUILD_LIMIT_MS = 600_000;
/** What kube-score gives to a check that is passed. */
const PASSED = 10;

interface Scored {
  readonly object_name: string;
  readonly type_meta: { readonly kind: string };
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
    readonly comments: readonly { readonly path: string; readonly summary: string }[] | null;
  }[];
}

describe.skipIf(cannotRender !== undefined)('the policy linter', { timeout: 60_000 }, () => {
  let linter: Found;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-policy-'));
    linter = await findLinter();
  }, BUILD_LIMIT_MS);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** What it objects to, a line each. */
  async function lint(text: string): Promise<readonly string[]> {
    if ('missing' in linter) throw new Error(linter.missing);
    const file = join(folder, 'manifests.yaml');
    await writeFile(file, text);
    // It ends with 1 when it has objections, which are then what it printed.
    const response = await runProgram(linter.command, ['score', '--output-format=json', ...options, file]).catch(
      (error: Error & { code?: number; stdout?: string }) => {
        if (error.code !== 1 || !error.stdout) throw error;
        return error.stdout;
      },
    );
    return (JSON.parse(response) as Scored[]).flatMap(({ object_name, type_meta, checks }) =>
      checks
        .filter(({ grade, skipped }) => !skipped && grade < PASSED)
        .flatMap(({ check, comments }) =>
          (comments ?? [{ path: '', summary: '' }]).map(
            ({ path, summary }) => `${type_meta.kind} ${object_name} ${path}: ${check.id}: ${summary}`,
          ),
        ),
    );
  }

  /** Migrations run under the network policies of the system they belong to. */
  async function inItsPlace(name: string): Promise<string> {
    const own = await renderText(name);
    return name.endsWith('/migrations') ? `${own}---\n${await renderText(dirname(name))}` : own;
  }

  it.for(applied)('has no objection to deploy/%s', async (name, { skip }) => {
    if ('missing' in linter) return skip(linter.missing);
    expect(await lint(await inItsPlace(name))).toEqual([]);
  });

  it('objects to a pod that may write where it likes', async ({ skip }) => {
    if ('missing' in linter) return skip(linter.missing);
    const text = await renderText('overlays/production');
    const objections = await lint(text.replaceAll('readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'));
    expect(objections.join()).toContain('container-security-context-readonlyrootfilesystem');
  });
});
