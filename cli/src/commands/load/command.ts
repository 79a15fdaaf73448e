import { effects, type Register, withAnnotations, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseDuration } from '../option-values.ts';
import type { LoadRunOptions } from './run-load.ts';

const RUN_HELP = `
Orders are placed by k6 (found on PATH, or downloaded or built once into the cache directory). A run is checked by
the scenario's thresholds, the audit of all databases, and the traces of a few orders. A soak of 10m or more is also
checked by how memory grew. Each order's Idempotency-Key begins with the run's id.

--chaos acts in the middle third: orders are checked before it, during it (each must get a response within 10 s), and
from 10 s after it. A fault is written TARGET:FAULT[,NAME=VALUE...] as "shopctl chaos faults" lists them. Of an experiment
("shopctl chaos list") only its faults are taken: its own orders and bounds would not hold beside another load.

A user sends an order and waits for its response; in retry-storm three requests concurrently, then one. Those of a part that is
over may wait beside the users of the next one for up to 10 s.

  shopctl load run smoke
  shopctl load run steady --rate 50 --duration 2m --chaos orders-broker:down
  shopctl load run steady --chaos orders-payments:latency,latency=400ms --junit load.xml
  shopctl load run ramp --rate 300 --html ramp.html`;

export const register: Register = (program, deps) => {
  const load = program.command('load').description('run load scenarios: find limits, and what breaks under load');
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withCommonOptions(load.command('list'))
    .description('list the scenarios with their settings')
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async () => {
      const { runLoadList } = await import('./run-load-list.ts');
      await runLoadList(deps);
    });

  withAnnotations(withCommonOptions(load.command('run')))
    .description('run a scenario on the running platform, and check it')
    .argument('<scenario>', 'a name of "shopctl load list"')
    .option('--rate <orders>', 'orders started a second (ramp, spike: at the top)', parseCount)
    .option('--duration <time>', 'of the whole load, like 30s or 10m', parseDuration)
    .option('--vus <count>', 'maximum of concurrent users (of each part of a load)', parseCount)
    .option('--seed <number>', 'random seed of the order mix (default: 1)', parseCount)
    .option('--chaos <fault>', 'a fault or experiment in the middle third; may be repeated', collect)
    .option('--traces <count>', 'orders whose traces are compared', parseCount, 5)
    .option('--junit <file>', 'write JUnit XML, a test case per check')
    .option(
      '--html <file>',
      "write a page with the verdict, everything over time and the audit, and k6's report beside it",
    )
    .addHelpText('after', RUN_HELP)
    .addHelpText(
      'after',
      effects(
        'orders on the running platform, which stay; k6 as a child process, installed into the cache directory when it is missing; with --chaos faults, all reverted',
        '0; 1 a threshold was crossed, orders left no record, memory grew, the ledger does not balance, a trace has another shape, or another run goes on there; 2; 3 k6 is not available; 4 the platform is not ready; 5 evidence is missing, such as fewer traces than --traces, or a process of a soak that was restarted; 6 a fault could not be reverted; 130',
      ),
    )
    .action(async (name: string, options: LoadRunOptions) => {
      const { runLoad } = await import('./run-load.ts');
      await runLoad(name, options, deps);
    });
};
