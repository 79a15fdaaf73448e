import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError, messageOf } from '../../errors.ts';
import { readAlertRules, requireAlertName } from '../../pager/alert-rules.ts';
import type { MatcherFields } from '../../pager/matcher.ts';
import { createPagerClient } from '../../pager/pager-client.ts';
import { type ShownSilence, writeMatchers } from '../../pager/pager-view.ts';
import { parseMatcher } from '../../pager/parse-matcher.ts';
import { askedFrom } from '../../platform/change-log.ts';

export interface SilenceOptions extends CommonOptions {
  /** ms. */
  readonly for: number;
  readonly reason: string;
}

export interface UnsilenceOptions extends CommonOptions {
  readonly reason?: string;
}

/** A year: a longer one is a rule that should be changed. */
const MOST_MS = 365 * 86_400_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `shopctl alerts silence NAME`. */
export async function runSilence(
  name: string,
  written: readonly string[],
  options: SilenceOptions,
  deps: CommandDeps,
): Promise<void> {
  if (!(options.for > 0 && options.for <= MOST_MS))
    throw new CliError({ code: 'invalid_argument', what: '--for is not between 0 and a year' });
  const matchers: readonly MatcherFields[] = [
    { name: 'alertname', value: name, isRegex: false, isEqual: true },
    ...written.map(readMatcher),
  ];
  const project = deps.projectFrom(options);
  const client = createPagerClient(project);
  const [{ alerts }, rules] = await Promise.all([client.view(), readAlertRules(project.root)]);
  requireAlertName(
    name,
    rules,
    alerts.map(({ alertname }) => alertname),
  );
  const asked = askedFrom('command line', options.reason);
  const silence = await client.silence({ matchers, forMs: options.for, reason: options.reason, asked });
  deps.output.result(silence, () => `silenced until ${silence.endsAt}: ${writeMatchers(matchers)} (${silence.id})`);
}

function readMatcher(text: string): MatcherFields {
  try {
    const { name, value, isRegex, isEqual } = parseMatcher(text);
    return { name, value, isRegex, isEqual };
  } catch (error) {
    throw new CliError({
      code: 'invalid_argument',
      what: `"${text}" is not a matcher`,
      why: messageOf(error),
      next: 'write label=value, label!=value, label=~pattern or label!~pattern',
      cause: error,
    });
  }
}

/** `shopctl alerts unsilence NAME`. */
export async function runUnsilence(name: string, options: UnsilenceOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const client = createPagerClient(project);
  const { silences, alerts } = await client.view();
  const chosen = silences.filter((silence) => silence.id === name || isOf(silence, name));
  if (chosen.length === 0 && !UUID.test(name)) {
    const known = alerts.map(({ alertname }) => alertname);
    requireAlertName(name, await readAlertRules(project.root), known);
  }
  const ids = chosen.map(({ id }) => id);
  const ended =
    ids.length === 0 ? [] : await client.unsilence({ ids, asked: askedFrom('command line', options.reason) });
  deps.output.result({ ended }, () => {
    if (ended.length === 0) return `no silence of ${name} is active`;
    return `ended: ${chosen.map(({ matchers }) => writeMatchers(matchers)).join('; ')}`;
  });
}

/** One that names this alert, and not one that happens to match it: that one silences others too. */
function isOf({ matchers }: ShownSilence, name: string): boolean {
  return matchers.some((one) => one.name === 'alertname' && one.value === name && one.isEqual && !one.isRegex);
}
