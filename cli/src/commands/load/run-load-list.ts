import { type Scenario, scenarioNames, scenarios } from '../../../../scenarios/lib/scenarios.ts';
import type { CommandDeps } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';

/** `shopctl load list`. */
export async function runLoadList({ output }: Pick<CommandDeps, 'output'>): Promise<void> {
  const all = scenarioNames.map((name) => describe(scenarios[name]));
  output.result(all, () =>
    formatTable(
      ['SCENARIO', 'RATE', 'DURATION', 'VUS', 'CHAOS', 'WHAT IT DOES'],
      all.map(({ name, rate, durationS, vus, chaos, title }) => [
        name,
        rate === null ? '-' : `${rate}/s`,
        `${durationS}s`,
        String(vus),
        chaos ? 'yes' : 'no',
        title,
      ]),
    ),
  );
}

function describe({ name, title, defaults, isSteady, phases }: Scenario) {
  const { rate, durationS, vus } = defaults;
  return {
    name,
    title,
    rate: rate === 0 ? null : rate,
    durationS,
    vus,
    /** Can be run with `--chaos`. */
    chaos: isSteady,
    phases: phases({ ...defaults, hasFault: false }).map((phase) => phase.name),
  };
}
