import { type CommonOptions, type Register, withCommonOptions } from './deps.ts';

export interface SetupOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly with?: readonly string[];
  readonly dryRun?: boolean;
}

/**
 * Side effects: downloads or builds missing components into the user's cache directory, builds dist/. Nothing is
 * installed system-wide. Exit codes 0, 2, 3.
 */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('setup'))
    .description('install the components that are missing here')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'only say what would be installed, and where')
    .option('--with <component>', 'also this optional component (jaeger, k6); may be repeated', collect, [])
    .action(async (options: SetupOptions) => {
      const { runSetup } = await import('../platform/run-setup.ts');
      await runSetup(options, deps);
    });
};

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
