import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('products'))
    .description('list what can be ordered: id, price and name')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (options: CommonOptions) => {
      const { runProducts } = await import('./run-products.ts');
      await runProducts(options, deps);
    });
  withCommonOptions(program.command('stock'))
    .description('list stock levels: pieces on hand, reserved by orders, and there at first')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (options: CommonOptions) => {
      const { runStock } = await import('./run-products.ts');
      await runStock(options, deps);
    });
};
