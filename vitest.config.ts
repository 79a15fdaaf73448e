import { defineConfig } from 'vitest/config';

/** Unit and integration tests run side by side; whole platforms after them, one at a time. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'units',
          include: ['{kit,cli}/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/e2e/**'],
          globalSetup: 'test/support/global-setup.ts',
          // A test that hangs is found all the same; one that only shares two cores with a compiler is not failed for it.
          testTimeout: 30_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 240_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
