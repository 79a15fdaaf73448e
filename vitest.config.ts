import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{kit,cli}/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
  },
});
