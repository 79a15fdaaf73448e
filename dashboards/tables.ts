import { type Profile, profileNames, profiles } from '../cli/src/slo/profiles.ts';
import { windowIn } from '../cli/src/slo/series.ts';
import type { Slo } from '../cli/src/slo/slo.ts';
import type { Alert } from './alerts/alert.ts';
import { alertsOf } from './alerts/all.ts';
import { runbookOf } from './rule-files.ts';

/** The blocks of docs/slos.md that are generated, by name. */
export function slosPageBlocks(slos: readonly Slo[]): Readonly<Record<string, string>> {
  return { slos: sloTable(slos), burns: burnTable(slos), alerts: alertTable(slos) };
}

const rows = (lines: readonly (readonly string[])[]): string => {
  const [head = [], ...body] = lines.map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return [head, `|${' --- |'.repeat(lines[0]?.length ?? 0)}`, ...body].join('\n');
};

const percent = (share: number) => `${Number((share * 100).toPrecision(6))} %`;

function sloTable(slos: readonly Slo[]): string {
  return rows([
    ['SLO', 'promise', ...profileNames.map((name) => `objective, ${name}`)],
    ...slos.map(({ name, description, objectives, counts, window: written }) => [
      `\`${name}\``,
      description,
      ...profileNames.map((profile) => {
        const window = windowIn(profiles[profile], written);
        return `${percent(objectives[profile])}${counts === 'seconds' ? ' of seconds' : ''} in ${window}`;
      }),
    ]),
  ]);
}

/** One row for each burn rate of the first SLO: all have the same. */
function burnTable(slos: readonly Slo[]): string {
  const burns = slos.flatMap(({ alerts }) => alerts.flatMap((alert) => alert.burns));
  const distinct = burns.filter((burn, index) => burns.findIndex(({ name }) => name === burn.name) === index);
  const windows = (profile: Profile, { long, short }: (typeof burns)[number]) =>
    `${windowIn(profile, long)} and ${windowIn(profile, short)}`;
  return rows([
    ['burn', 'severity', 'burn rate above', ...profileNames.map((name) => `windows, ${name}`)],
    ...distinct.map((burn) => [
      burn.name,
      burn.severity,
      String(burn.threshold),
      ...profileNames.map((name) => windows(profiles[name], burn)),
    ]),
  ]);
}

function alertTable(slos: readonly Slo[]): string {
  const byProfile = profileNames.map((name) => ({ name, alerts: alertsOf(slos, profiles[name]) }));
  const all = byProfile.flatMap(({ alerts }) => alerts);
  const names = [...new Set(all.map(({ name }) => name))];
  const severities = (name: string) => [
    ...new Set(all.filter((alert) => alert.name === name).map((alert) => alert.severity)),
  ];
  const inProfiles = (name: string) =>
    byProfile.filter(({ alerts }) => alerts.some((alert) => alert.name === name)).map((profile) => profile.name);
  return rows([
    ['alert', 'severity', 'what is wrong', 'who notices what', 'profiles', 'runbook'],
    ...names
      .map((name) => all.find((alert) => alert.name === name) as Alert)
      .map(({ name, summary, impact }) => [
        `\`${name}\``,
        severities(name).join(', '),
        summary,
        impact,
        inProfiles(name).length === profileNames.length ? 'both' : inProfiles(name).join(', '),
        `[${name}](${runbookOf(name).replace('docs/', '')})`,
      ]),
  ]);
}
