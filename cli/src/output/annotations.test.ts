import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AnnotatedSuite, annotate, type Forge, forgeIn, githubCommands, renderGitlabLog } from './annotations.ts';

const passed = { name: 'an order is confirmed', verdict: 'pass', evidence: '201' } as const;
const failed = {
  group: 'trace',
  name: '50% of spans: a, b',
  verdict: 'fail',
  evidence: 'missing\r\na span',
  details: '- \x1b[31mpayments\x1b[39m',
} as const;
const unknown = { id: 'I11', name: 'metrics', verdict: 'unknown', evidence: 'a <process> | was killed' } as const;
const suite: AnnotatedSuite = {
  name: 'verify',
  tookMs: 2_000,
  cases: [passed, failed, unknown, { ...passed, verdict: 'skipped' }],
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-annotations-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function reported(env: NodeJS.ProcessEnv, annotations?: Forge) {
  const lines: string[] = [];
  const output = { note: (text: string) => lines.push(text), warn: (text: string) => lines.push(`warning: ${text}`) };
  await annotate([suite], { ...(annotations && { annotations }) }, { env, output });
  return lines;
}

it.each([
  [{ GITHUB_ACTIONS: 'true' }, 'github'],
  [{ GITLAB_CI: 'true' }, 'gitlab'],
  [{ CI: 'true' }, 'none'],
  [{ GITHUB_ACTIONS: 'false', GITLAB_CI: '' }, 'none'],
] as const)('%o is %s', (env, forge) => {
  expect(forgeIn(env)).toBe(forge);
});

describe('for GitHub', () => {
  it('a failure is an error and missing evidence a warning, escaped as workflow commands are', async () => {
    expect(await reported({ GITHUB_ACTIONS: 'true' })).toEqual([
      '::error title=verify%3A trace 50%25 of spans%3A a%2C b::fail: missing%0D%0Aa span%0A- payments',
      '::warning title=verify%3A I11 metrics::unknown: a <process> | was killed',
    ]);
  });

  it('an experiment is annotated in its file, at the line of the check', () => {
    const source = { file: '/clone/chaos/E08.yaml', text: 'title: x\nmethod:\n  - name: 50% of spans: a, b\n' };
    const commands = githubCommands([{ ...suite, source }], '/clone');
    expect(commands[0]).toMatch(/^::error file=chaos\/E08\.yaml,line=3,title=/);
    expect(commands[1]).toMatch(/^::warning file=chaos\/E08\.yaml,line=1,title=/);
  });

  it('says how many there are beyond those that it shows', () => {
    const many = { ...suite, cases: Array.from({ length: 25 }, () => failed) };
    const commands = githubCommands([many], '/');
    expect(commands).toHaveLength(10);
    expect(commands.at(-1)).toBe('::error title=shopctl::16 more: see the log, or the JUnit report');
  });

  it('appends a summary to the file of the step', async () => {
    const file = join(folder, 'summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: file };
    await reported(env);
    await reported(env);
    const page = [
      '### ❌ verify: fail',
      '',
      '1 pass, 1 fail, 1 unknown, 1 skipped, in 2.00 s',
      '',
      '| verdict | check | evidence |',
      '| --- | --- | --- |',
      '| fail | trace 50% of spans: a, b | missing a span |',
      '| unknown | I11 metrics | a &lt;process> \\| was killed |',
      '',
      '',
    ].join('\n');
    expect(await readFile(file, 'utf8')).toBe(`${page}${page}`);
  });

  it('warns of a summary that cannot be written, and goes on', async () => {
    const lines = await reported({ GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: folder });
    expect(lines.at(-1)).toMatch(/^warning: no summary was written to GITHUB_STEP_SUMMARY: EISDIR/);
  });
});

describe('for GitLab', () => {
  it('a suite is a section, closed where all passed', () => {
    expect(
      renderGitlabLog([suite, { ...suite, name: 'E08: slow', cases: [passed] }], 1_700_000_002_000).split('\n'),
    ).toEqual([
      '\x1b[0Ksection_start:1700000000:shopctl_0_verify\r\x1b[0Kverify: fail, 1 pass, 1 fail, 1 unknown, 1 skipped',
      'trace 50% of spans: a, b: fail: missing\r',
      'a span',
      '- payments',
      'I11 metrics: unknown: a <process> | was killed',
      '\x1b[0Ksection_end:1700000002:shopctl_0_verify\r\x1b[0K',
      '\x1b[0Ksection_start:1700000000:shopctl_1_e08_slow[collapsed=true]\r\x1b[0KE08: slow: pass, 1 pass',
      '\x1b[0Ksection_end:1700000002:shopctl_1_e08_slow\r\x1b[0K',
    ]);
  });
});

it('elsewhere, and where none is asked for, nothing is written', async () => {
  expect(await reported({})).toEqual([]);
  expect(await reported({ GITHUB_ACTIONS: 'true' }, 'none')).toEqual([]);
});

it('one that is asked for counts before what was detected', async () => {
  expect((await reported({ GITLAB_CI: 'true' }, 'github'))[0]).toMatch(/^::error /);
});
