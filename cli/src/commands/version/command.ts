import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { VERSION } from '../../version.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('version'))
    .description('print the versions of shopctl and of Node')
    .addHelpText('after', effects('none, reads nothing', '0, 2'))
    .action(() => {
      const versions = { shopctl: VERSION, node: process.version, platform: `${process.platform}-${process.arch}` };
      deps.output.result(versions, (v) => `shopctl ${v.shopctl} (Node ${v.node}, ${v.platform})`);
    });
};
