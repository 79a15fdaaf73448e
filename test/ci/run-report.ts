/**
 * A Vitest reporter: writes what a second run is decided from. Vitest's JSON has neither a file's project nor errors that no
 * test caught.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

export interface TestReport {
  /** With the titles around it, joined by ' > '. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending';
  /** Of a test that failed: the first line of its first error. */
  readonly message?: string;
}

export interface FileReport {
  readonly path: string;
  /** The name of its Vitest project. */
  readonly project: string;
  /** Also true when a hook or the file itself failed, so that no test of it did. */
  readonly failed: boolean;
  /** First lines of errors outside of tests. */
  readonly errors: readonly string[];
  readonly tests: readonly TestReport[];
}

export interface RunReport {
  readonly files: readonly FileReport[];
  /** First lines of errors that were caught nowhere. */
  readonly unhandled: readonly string[];
}

export function runReporter(file: string): Reporter {
  return {
    onTestRunEnd(modules, unhandled) {
      const report: RunReport = { files: modules.map(fileReport), unhandled: unhandled.map(firstLine) };
      writeFileSync(file, JSON.stringify(report));
    },
  };
}

function fileReport(module: TestModule): FileReport {
  const suites = [module, ...module.children.allSuites()];
  const tests = [...module.children.allTests()].map((test): TestReport => {
    const { state, errors = [] } = test.result();
    return { name: test.fullName, state, ...(state === 'failed' && { message: firstLine(errors[0]) }) };
  });
  return {
    path: relative(module.project.vitest.config.root, module.moduleId),
    project: module.project.name,
    // A worker that ended early leaves its file unfinished.
    failed: !['passed', 'skipped'].includes(module.state()),
    errors: suites.flatMap((suite) => suite.errors()).map(firstLine),
    tests,
  };
}

const firstLine = (error: { readonly message?: string } | undefined) => error?.message?.split('\n')[0] ?? 'no message';
