import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Units that take 20 s and more, and files with whole platforms that take 40 s and more on two cores, the longest first. Vitest
 * knows durations from the run before; in a fresh clone it begins with the largest file, and a long one that is short ends the
 * run alone.
 */
export const longest = [
  'cli/src/platform/run-supervisor.test.ts',
  'cli/src/audit/audit.integration.test.ts',
  'test/deploy/policy.test.ts',
  'cli/src/providers/rabbitmq.integration.test.ts',
  'cli/src/main.test.ts',
  'services/orders/src/saga/simulation.test.ts',
  'cli/src/verify/checks/platform-checks.test.ts',
  'test/retention/retention.integration.test.ts',
  'cli/src/load/post-run.integration.test.ts',
  // Those that take a core all the time are spread over those that wait most of it.
  ...[
    'crash-recovery',
    'chaos-faults',
    'recipe-service',
    'operator',
    'dependency-outage',
    'graceful-restart',
    'chaos-run',
    'load-run',
    'edit',
    'cli-interrupted',
    'chaos-platforms',
    'conformance',
    'cli-platform',
    'first-contact',
    'watch',
    'monitoring',
    'tutorial',
    'contracts',
    'releases',
    'operator-commands',
    'stock-instrumentation',
    'chaos-failpoints',
    'bad-input',
  ].map((name) => `test/e2e/${name}.e2e.test.ts`),
];

/**
 * Vitest's order, but for these files, which each project begins with. Of projects that run side by side, the one whose files have a
 * process each begins. Between files that share one, such a file would end it.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    const place = ([one]: TestSpecification[]) => {
      const { isolate, sequence } = (one as TestSpecification).project.config;
      return 2 * sequence.groupOrder + (isolate ? 0 : 1);
    };
    const projects = [...byProject.values()].toSorted((one, other) => place(one) - place(other));
    return projects.flatMap((ofProject) => {
      const isOf = ({ moduleId }: TestSpecification, path: string) => moduleId.endsWith(`/${path}`);
      const first = longest.flatMap((path) => ofProject.filter((file) => isOf(file, path)));
      return [...first, ...ofProject.filter((file) => !first.includes(file))];
    });
  }
}
