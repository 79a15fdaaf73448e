import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { findScenario, readScenarios } from '../../drills/format/catalog.ts';
import { candidatesOf } from '../../drills/seal/draw.ts';
import { seal } from '../../drills/seal/envelope.ts';
import { createPack } from '../../drills/seal/pack.ts';
import { CliError, messageOf } from '../../errors.ts';
import { supervisorBuild } from '../../platform/bundles.ts';
import { readPassphrase } from './passphrase.ts';

export interface DrillSealOptions extends CommonOptions {
  readonly level: number;
  readonly seed?: string;
  readonly scenario?: string;
  readonly out: string;
  readonly passphraseFile?: string;
}

/** `shopctl drill seal`: decides a round for another person. */
export async function runDrillSeal(options: DrillSealOptions, deps: CommandDeps): Promise<void> {
  const { level, seed = randomBytes(8).toString('hex'), scenario, out, passphraseFile } = options;
  const project = deps.projectFrom(options);
  const scenarios = await readScenarios(project.root);
  if (scenario !== undefined) findScenario(scenarios, scenario);
  const candidates = candidatesOf(scenarios, level, { hasDeploy: true }).filter(
    ({ id }) => scenario === undefined || id === scenario,
  );
  const build = await supervisorBuild(project);
  const envelope = seal(scenarios, { seed, level, candidates, build });
  const pack = await createPack(envelope, await readPassphrase(passphraseFile, deps.signal));
  try {
    // Another round is never replaced without a word.
    await writeFile(out, `${JSON.stringify(pack, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new CliError({
      code: 'report_not_writable',
      what: `cannot write ${out}`,
      why: messageOf(cause),
      next: 'name a new file in a folder that exists',
      cause,
    });
  }
  const { commitment } = pack;
  deps.output.result({ file: out, commitment, level, scenario: envelope.scenario.id, seed, build }, () =>
    [
      `${out}: level ${level}, ${envelope.scenario.id}, seed ${seed}`,
      `commitment   ${commitment}`,
      'Give the file to the trainee, and type the passphrase at "shopctl drill start FILE" yourself.',
    ].join('\n'),
  );
}
