import type { Register } from '../../command-context.ts';
import { withCommonOptions } from '../../command-context.ts';

/** Raised with cli/package.json; a test keeps them equal. */
export const VERSION = '0.1.0';

export function versionText(): string {
  return VERSION;
}

/** Prints versions. Reads nothing, starts nothing. */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('version').description('print the versions of shopctl and of Node')).action(() => {
    const versions = { shopctl: VERSION, node: process.version, platform: `${process.platform}-${process.arch}` };
    deps.output.result(versions, (v) => `shopctl ${v.shopctl} (Node ${v.node}, ${v.platform})`);
  });
};
