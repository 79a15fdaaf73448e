import { appendFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { messageOf } from '../errors.ts';
import { formatDuration } from '../shared/duration.ts';
import { worst } from '../shared/verdict.ts';
import type { JunitCase, JunitSuite } from './junit.ts';
import type { Output } from './output.ts';

/** Whose annotations are written. Gitea and Forgejo read those of GitHub, and say that they are it. */
export const forges = ['github', 'gitlab', 'none'] as const;
export type Forge = (typeof forges)[number];

/** Results, and the file that says what they are about. */
export interface AnnotatedSuite extends Pick<JunitSuite, 'name' | 'tookMs' | 'cases'> {
  readonly source?: { readonly file: string; readonly text: string };
}

export interface AnnotationDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly output: Pick<Output, 'note' | 'warn'>;
}

/** Where this process runs, by the variables that the forges' runners set. */
export function forgeIn({ GITHUB_ACTIONS, GITLAB_CI }: NodeJS.ProcessEnv): Forge {
  if (GITHUB_ACTIONS === 'true') return 'github';
  return GITLAB_CI === 'true' ? 'gitlab' : 'none';
}

/**
 * Reports to the forge that runs this process what did not pass; on stderr, because stdout is the command's result, and runners
 * read both. A summary that cannot be written changes no verdict.
 */
export async function annotate(
  suites: readonly AnnotatedSuite[],
  { annotations }: { readonly annotations?: Forge },
  { env, output }: AnnotationDeps,
): Promise<void> {
  const forge = annotations ?? forgeIn(env);
  if (forge === 'gitlab') output.note(renderGitlabLog(suites, Date.now()));
  if (forge !== 'github') return;
  for (const command of githubCommands(suites, env.GITHUB_WORKSPACE ?? process.cwd())) output.note(command);
  if (!env.GITHUB_STEP_SUMMARY) return;
  try {
    await appendFile(env.GITHUB_STEP_SUMMARY, renderSummaryPage(suites));
  } catch (error) {
    output.warn(`no summary was written to GITHUB_STEP_SUMMARY: ${messageOf(error)}`);
  }
}

/** GitHub shows 10 errors and 10 warnings of a step. Source: GitHub Actions, "Usage limits for annotations". */
const MAX_ANNOTATIONS = 10;

interface Finding {
  readonly suite: AnnotatedSuite;
  readonly one: JunitCase;
}

function findingsOf(suites: readonly AnnotatedSuite[]): readonly Finding[] {
  const all = suites.flatMap((suite) => suite.cases.map((one) => ({ suite, one })));
  return all.filter(({ one: { verdict } }) => verdict !== 'pass' && verdict !== 'skipped');
}

/** Workflow commands: `::error title=...::...`, or `::warning` where evidence is missing. */
export function githubCommands(suites: readonly AnnotatedSuite[], workspace: string): readonly string[] {
  const byLevel = Map.groupBy(findingsOf(suites), ({ one: { verdict } }) =>
    verdict === 'fail' || verdict === 'dirty' ? 'error' : 'warning',
  );
  return [...byLevel].flatMap(([level, findings]) => {
    const isFull = findings.length > MAX_ANNOTATIONS;
    const shown = isFull ? findings.slice(0, MAX_ANNOTATIONS - 1) : findings;
    const commands = shown.map((finding) => githubCommand(level, finding, workspace));
    const rest = findings.length - shown.length;
    return isFull
      ? [...commands, `::${level} title=shopctl::${rest} more: see the log, or the JUnit report`]
      : commands;
  });
}

function githubCommand(level: string, { suite: { name, source }, one }: Finding, workspace: string): string {
  const place = source && { file: relative(workspace, source.file), line: String(lineOf(one, source.text)) };
  const properties = Object.entries({ ...place, title: `${name}: ${titleOf(one)}` });
  const text = properties.map(([key, value]) => `${key}=${escapeProperty(value)}`).join(',');
  return `::${level} ${text}::${escapeData(detailsOf(one))}`;
}

function titleOf({ id, group, name }: JunitCase): string {
  return [id ?? group, name].filter((part) => part !== undefined).join(' ');
}

function detailsOf({ verdict, evidence, details }: JunitCase): string {
  const more = details === undefined || details === evidence ? [] : [details];
  return stripVTControlCharacters([`${verdict}: ${evidence}`, ...more].join('\n'));
}

/** The first line that has the name of the check, from 1 on; the first of all where none has. */
function lineOf({ name }: JunitCase, text: string): number {
  return (
    Math.max(
      0,
      text.split('\n').findIndex((line) => line.includes(name)),
    ) + 1
  );
}

/** Source: actions/toolkit, packages/core/src/command.ts. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(stripVTControlCharacters(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Rows of one suite; a summary has at most 1 MiB. */
const MAX_ROWS = 50;

/** Markdown: what each suite came to, and a table of what did not pass. */
function renderSummaryPage(suites: readonly AnnotatedSuite[]): string {
  return suites.map((suite) => `${summaryLines(suite).join('\n')}\n\n`).join('');
}

function summaryLines(suite: AnnotatedSuite): string[] {
  const verdict = worst(suite.cases.map((one) => one.verdict));
  const findings = findingsOf([suite]);
  const rows = findings
    .slice(0, MAX_ROWS)
    .map(({ one }) => `| ${one.verdict} | ${cell(titleOf(one))} | ${cell(one.evidence)} |`);
  const rest = findings.length - rows.length;
  return [
    `### ${verdict === 'pass' ? '✅' : '❌'} ${cell(suite.name)}: ${verdict}`,
    '',
    `${countsOf(suite)}, in ${formatDuration(suite.tookMs)}`,
    ...(rows.length > 0 ? ['', '| verdict | check | evidence |', '| --- | --- | --- |', ...rows] : []),
    ...(rest > 0 ? ['', `and ${rest} more`] : []),
  ];
}

/** `12 pass, 1 fail` */
function countsOf({ cases }: AnnotatedSuite): string {
  return [...Map.groupBy(cases, ({ verdict }) => verdict)]
    .map(([verdict, own]) => `${own.length} ${verdict}`)
    .join(', ');
}

function cell(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('|', '\\|')
    .replace(/\s+/g, ' ');
}

/** A section of the job's log for each suite, closed where all passed. Source: GitLab, "Custom collapsible sections". */
export function renderGitlabLog(suites: readonly AnnotatedSuite[], nowMs: number): string {
  const endS = Math.floor(nowMs / 1000);
  return suites
    .map((suite, index) => {
      const id = `shopctl_${index}_${suite.name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`;
      const verdict = worst(suite.cases.map((one) => one.verdict));
      const beginS = endS - Math.round(suite.tookMs / 1000);
      const options = verdict === 'pass' ? '[collapsed=true]' : '';
      const lines = findingsOf([suite]).map(({ one }) => `${titleOf(one)}: ${detailsOf(one)}`);
      return [
        `\x1b[0Ksection_start:${beginS}:${id}${options}\r\x1b[0K${suite.name}: ${verdict}, ${countsOf(suite)}`,
        ...lines,
        `\x1b[0Ksection_end:${endS}:${id}\r\x1b[0K`,
      ].join('\n');
    })
    .join('\n');
}
