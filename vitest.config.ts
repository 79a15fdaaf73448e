import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/ci/longest-first.ts';
import { runReporter } from './test/ci/run-report.ts';

/*
 * Tests stand in two tiers by their cost: `npm test` runs the first, `npm run test:all` both (decision 0065). Without
 * TEST_TIER the nightly ones are there too, so that a file can be named without knowing where it stands.
 */
const { TEST_TIER: tier, TEST_REPORT: report } = process.env;
// They are for this run, and not for those that its tests start.
delete process.env.TEST_TIER;
delete process.env.TEST_REPORT;

const SLOW_IN_BACKGROUND = ['test/{deploy/{policy,schemas},build/production}.test.ts'];
/** Of the units, second tier: what takes a core for ten seconds and more. */
const SLOW = [
  'cli/src/{audit/audit,load/post-run,providers/rabbitmq}.integration.test.ts',
  'test/retention/retention.integration.test.ts',
  ...SLOW_IN_BACKGROUND,
];

/** Of the whole platforms, first tier: what the platform does for its users. Any other is second tier. */
const FIRST_PLATFORMS = [
  'test/e2e/{application,bad-input,chaos-failpoints,cli-usage,contracts,isolation,watch}.e2e.test.ts',
];

/**
 * Whole platforms that have the machine to themselves, because they check how long something takes or need all of it.
 * Every other one mostly waits (for a lease, a breaker, a process), so that several at a time disturb each other little
 * (decision 0092).
 */
const ALONE = [
  // Experiments, several at a time, and 20 clients: their limits on single orders are a few hundred milliseconds.
  'test/e2e/{chaos-subset,load}.e2e.test.ts',
  // A platform of another user, and containers: their claims on ports ours cannot see.
  'test/e2e/{cli-user,compose,docker-*}.e2e.test.ts',
];
/**
 * Whole platforms that are replaced ten times, that wait for a drill to begin, or on which all strategies are carried out. They take minutes: the
 * nightly build names them.
 */
const NIGHTLY = [
  'test/e2e/{deploy-killed,deploys,drills,schema-releases}.e2e.test.ts',
  'test/e2e/docker-{deploy-killed,deploys,schema-releases}.e2e.test.ts',
];

/** A file may start two platforms, and each takes 1 GB. */
const PLATFORMS_AT_A_TIME = Math.max(1, Math.min(4, Math.floor(totalmem() / 2 ** 31)));

/** `npm run verify` leaves out what needs PostgreSQL or RabbitMQ. */
const withoutServers = process.env.WITHOUT_SERVERS === '1' ? ['**/*.integration.test.ts'] : [];

/** Longer than any wait of a test, which ends with what it waited for: `chaos-run` gives a run 60 s to begin. */
const wholePlatforms = {
  testTimeout: 120_000,
  hookTimeout: 240_000,
  // Files share processes, and with them the modules that are loaded, as those of units do.
  setupFiles: ['test/support/shared-process.ts'],
  isolate: false,
};

/** Files of units that share a process with others, and the modules that are loaded in it: half of the CPU time (decision 0092). */
const shared = ['{kit,instrumentation,services/*,cli}/src/**/*.test.ts', 'test/**/*.test.ts'];
/**
 * Those that have a process each: they register tracers, meters or a context manager for it, replace modules, or have fake timers for
 * code whose libraries keep timers for their process (decision 0146).
 */
const isolated = [
  '{instrumentation/src,kit/src/spans,kit/src/telemetry}/**/*.test.ts',
  'kit/src/{attempt-metrics,database.integration,flag-outcomes,release,replica-picker,resilience}.test.ts',
  'kit/src/{retention,tracing,wanted-track}.test.ts',
  'services/orders/src/{ownership,place-order,publisher,relay,saga-runner}.test.ts',
  'services/orders/src/saga/**/*.test.ts',
  'services/stock/src/app.test.ts',
  'cli/src/{deploy/flag-rollout/supervise,verify/checks/platform-checks}.test.ts',
];
/**
 * Of the units that share a process: those that take a core and have no limit in seconds. In `npm run test:all` they run at low priority
 * beside the platforms that run alone, which leave half of both cores idle (decision 0139).
 */
const BACKGROUND = [
  'services/orders/src/saga/simulation.test.ts',
  'test/{alerts,bench,deploy,docs,generated,language}/**/*.test.ts',
  'test/build/{production,stack-traces}.test.ts',
  'test/ci/{docker-images,parts,second-run,tiers}.test.ts',
];
const outside = ['**/node_modules/**'];
const notUnits = [...outside, 'test/e2e/**', ...withoutServers, ...(tier === 'first' ? SLOW : [])];
const units = {
  // Pact's native library would report each verification to its makers.
  env: { PACT_DO_NOT_TRACK: 'true' },
  setupFiles: ['test/support/fail-on-warnings.ts', 'test/support/temporary-folder.ts'],
  // A test that hangs is found all the same; one that only shares two cores with a compiler is not failed for it.
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // Many of them wait; the default leaves a processor idle, which is half of a small machine.
  maxWorkers: 2 * availableParallelism(),
  sequence: { groupOrder: 1 },
};

/** They share processes, and with them the modules that are loaded. */
const sharing = { setupFiles: [...units.setupFiles, 'test/support/shared-process.ts'], isolate: false };

const platforms = ['test/e2e/**/*.e2e.test.ts'];

/** Unit and integration tests run side by side; whole platforms after them, several at a time or alone. */
export default defineConfig({
  test: {
    ...(report !== undefined && { reporters: ['default', runReporter(report)] }),
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/support/global-setup.ts',
    tags: [{ name: 'deliberate-break', description: 'changes a contract and demands that its check finds it' }],
    projects: [
      {
        test: {
          ...units,
          ...sharing,
          name: 'units',
          include: tier === 'second' ? SLOW : shared,
          exclude: [...notUnits, ...isolated, ...BACKGROUND],
        },
      },
      {
        test: {
          ...units,
          ...sharing,
          // At low priority a test takes as long as others leave it no core.
          testTimeout: 10 * units.testTimeout,
          hookTimeout: 10 * units.hookTimeout,
          name: 'units-background',
          include: tier === 'second' ? SLOW_IN_BACKGROUND : BACKGROUND,
          exclude: notUnits,
        },
      },
      {
        test: {
          ...units,
          name: 'units-isolated',
          include: tier === 'second' ? [] : isolated,
          exclude: [...notUnits, ...BACKGROUND],
        },
      },
      {
        test: {
          ...wholePlatforms,
          name: 'e2e',
          include: tier === 'first' ? FIRST_PLATFORMS : platforms,
          exclude: [
            ...outside,
            ...ALONE,
            ...(tier === undefined ? [] : NIGHTLY),
            ...(tier === 'second' ? FIRST_PLATFORMS : []),
          ],
          maxWorkers: PLATFORMS_AT_A_TIME,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...wholePlatforms,
          name: 'e2e-alone',
          include: ALONE,
          exclude: tier === 'first' ? platforms : [...outside, ...(tier === undefined ? [] : NIGHTLY)],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
