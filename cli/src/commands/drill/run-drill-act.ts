import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { createDrillClient } from '../../drills/drill-client.ts';
import type { Scope } from '../../drills/format/vocabulary.ts';
import { components, type Mechanism, mechanisms, scopes } from '../../drills/format/vocabulary.ts';
import { renderRound } from '../../drills/render-round.ts';
import type { ShownRound } from '../../drills/requests.ts';
import { CliError } from '../../errors.ts';
import { askedFrom } from '../../platform/change-log.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import { confirm } from '../confirm.ts';

export interface ActOptions extends CommonOptions {
  readonly as?: string;
}

export interface BlameOptions extends ActOptions {
  readonly component: string;
  readonly mechanism: string;
  readonly scope: string;
  readonly evidence?: readonly string[];
}

export interface HintOptions extends CommonOptions {
  readonly yes?: boolean;
}

const nameOf = ({ as }: ActOptions) => as ?? askedFrom('command line').by.user;

/** `shopctl drill status` */
export async function runDrillStatus(options: CommonOptions, deps: CommandDeps): Promise<void> {
  print(await clientOf(options, deps).status(), deps);
}

/** `shopctl drill declare|note|update` */
export async function runDrillText(
  kind: 'declare' | 'note' | 'update',
  text: string,
  options: ActOptions,
  deps: CommandDeps,
): Promise<void> {
  const round = await clientOf(options, deps).ask(kind, { text, by: nameOf(options) });
  deps.output.result(round, () => (kind === 'declare' ? 'the incident is declared' : `the ${kind} is recorded`));
}

/** `shopctl drill blame`: an unknown word is refused, and costs nothing. */
export async function runDrillBlame(options: BlameOptions, deps: CommandDeps): Promise<void> {
  requireWord('component', options.component, components);
  requireWord('mechanism', options.mechanism, mechanisms);
  requireWord('scope', options.scope, scopes);
  const round = await clientOf(options, deps).ask('blame', {
    component: options.component,
    mechanism: options.mechanism as Mechanism,
    scope: options.scope as Scope,
    references: options.evidence ?? [],
    by: nameOf(options),
  });
  deps.output.result(round, () => `the diagnosis is recorded, ${round.tries} of 3`);
}

/** More words than these are in the help alone. */
const MOST_LISTED = 40;

function requireWord(kind: string, word: string, words: readonly string[]): void {
  if (words.includes(word)) return;
  // An edge or a database without its kind is the usual slip.
  const suggestion = words.find((one) => one.endsWith(`:${word}`)) ?? suggestName(word, words);
  throw new CliError({
    code: 'invalid_argument',
    what: `unknown ${kind} "${word}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next:
      words.length > MOST_LISTED ? `see the ${kind}s in "shopctl drill blame --help"` : `one of ${words.join(', ')}`,
  });
}

/** `shopctl drill hint`: says its cost, and asks. */
export async function runDrillHint(options: HintOptions, deps: CommandDeps): Promise<void> {
  const client = clientOf(options, deps);
  const { stage, cost } = await client.ask('hint', { take: false });
  if (!options.yes) {
    await confirm(`The next hint (${stage}) costs ${cost} points. Take it?`, {
      what: `the next hint (${stage}) costs ${cost} points`,
      next: 'take it with --yes',
      signal: deps.signal,
    });
  }
  const hint = await client.ask('hint', { take: true });
  deps.output.result(hint, () => `${hint.stage}, -${hint.cost}: ${hint.text}`);
}

/** `shopctl drill fixed` */
export async function runDrillFixed(options: ActOptions, deps: CommandDeps): Promise<void> {
  print(await clientOf(options, deps).ask('fixed', { by: nameOf(options) }), deps);
}

/** `shopctl drill all-clear`: ends the round. */
export async function runDrillAllClear(options: ActOptions, deps: CommandDeps): Promise<void> {
  print(await clientOf(options, deps).ask('all-clear', { by: nameOf(options) }), deps);
}

/** `shopctl drill give-up|abort`: everything is reverted when it ends. */
export async function runDrillEnd(why: 'gave-up' | 'aborted', options: ActOptions, deps: CommandDeps): Promise<void> {
  print(await clientOf(options, deps).ask('end', { why, by: nameOf(options) }), deps);
}

function clientOf(options: CommonOptions, { projectFrom }: CommandDeps) {
  return createDrillClient(projectFrom(options));
}

function print(round: ShownRound, { output }: CommandDeps): void {
  output.result(round, () => renderRound(round, output.style));
}
