import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { inlineCommandsOf, readCommandLine, shellCommandsOf } from './command-lines.ts';
import { quotedMessagesOf, sourcesOf, unknownPartsOf } from './quoted-messages.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/runbooks');
const read = (page: string) => readFileSync(join(folder, page), 'utf8');

const HEADINGS = ['Meaning', 'Customer impact', 'First look', 'Decide', 'Actions', 'Escalate', 'False alarms'];

/** Commands that act on other things than a platform in trouble. */
const NO_OPERATION = [
  'up',
  'down',
  'deploy',
  'flags on',
  'flags rollout',
  'flags set',
  'alerts silence',
  'alerts unsilence',
];

interface Alert {
  readonly name: string;
  readonly severities: readonly string[];
  readonly runbook: string;
}

const alerts = alertsOfRules();
const pages = readdirSync(folder).filter((name) => name !== 'README.md');
const commandLine = readCommandLine();
const sources = sourcesOf(root, '{cli,kit,services/*}/src/**/*.ts');

/** The alerts of the generated rules; one may have a rule for each of its windows. */
function alertsOfRules(): readonly Alert[] {
  const file = parse(readFileSync(join(root, 'dashboards/prometheus/laptop/alerts.yaml'), 'utf8')) as RuleFile;
  const rules = file.groups.flatMap((group) => group.rules);
  return [...Map.groupBy(rules, ({ alert }) => alert)].map(([name, of]) => ({
    name,
    severities: [...new Set(of.map(({ labels }) => labels.severity))],
    runbook: of[0]?.annotations.runbook ?? '',
  }));
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly runbook: string };
    }[];
  }[];
}

/** The text under a heading of a page. */
function sectionOf(page: string, heading: string): string {
  return read(page).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

const commandsOf = (text: string) =>
  [...shellCommandsOf(text), ...inlineCommandsOf(text)].map((line) => commandLine.parse(line));
const isChange = (command: string) =>
  commandLine.commands.get(command)?.options.some(({ long }) => long === '--reason') === true;

describe('runbooks', () => {
  it('are there for each alert, where its rule says, and for no other', () => {
    expect(alerts.map(({ runbook }) => runbook).toSorted()).toEqual(pages.map((page) => `docs/runbooks/${page}`));
  });

  it('are listed with the severities of their alerts', () => {
    const rows = [...read('README.md').matchAll(/^\| \[(\w+)\]\((\S+)\) \| ([a-z, ]+) \| .+ \|$/gm)];
    const listed = rows.map(([, name, runbook, severities]) => ({
      name,
      severities: severities?.split(', '),
      runbook: `docs/runbooks/${runbook}`,
    }));
    expect(listed).toEqual(alerts);
  });

  it('name each command that changes a running platform', () => {
    const named = new Set(pages.flatMap((page) => commandsOf(read(page))));
    const changing = [...commandLine.commands.keys()].filter(
      (command) => isChange(command) || /^(?:ops|dlq) /.test(command),
    );
    expect(changing.length).toBeGreaterThan(20);
    expect(changing.filter((command) => !named.has(command) && !NO_OPERATION.includes(command))).toEqual([]);
  });

  it.each([...pages, 'README.md'])('%s quotes messages that exist', (page) => {
    const unknown = quotedMessagesOf(read(page)).flatMap((message) => unknownPartsOf(message, sources));
    expect(unknown).toEqual([]);
  });

  describe.each(pages)('%s', (page) => {
    it('has its headings in order', () => {
      expect(read(page).split('\n')[0]).toBe(`# ${page.replace('.md', '')}`);
      expect([...read(page).matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading)).toEqual(HEADINGS);
    });

    it('looks before it changes something', () => {
      const looks = commandsOf(sectionOf(page, 'First look'));
      expect(looks).not.toEqual([]);
      expect(looks.filter(isChange)).toEqual([]);
    });

    it('describes the side effects of each change that it decides for', () => {
      const described = commandsOf(sectionOf(page, 'Actions'));
      const changes = commandsOf(sectionOf(page, 'Decide')).filter(isChange);
      expect(changes.filter((command) => !described.includes(command))).toEqual([]);
    });
  });
});
