import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSlos } from '../../cli/src/slo/catalog.ts';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { publishedSchema } from '../../cli/src/slo/schema.ts';
import { alertmanagerFile } from '../../dashboards/alertmanager.ts';
import { grafanaDashboard } from '../../dashboards/grafana.ts';
import { pagesOf } from '../../dashboards/pages.ts';
import { prometheusRule } from '../../dashboards/prometheus-rule.ts';
import { ruleFile, rulesOf } from '../../dashboards/rule-files.ts';
import { rulesFor, ruleTestFile, scenarioFiles } from '../../dashboards/rule-tests.ts';
import { slosPageBlocks } from '../../dashboards/tables.ts';
import { expectGenerated, expectGeneratedBlocks } from './expect-generated.ts';

const root = new URL('../../', import.meta.url).pathname;
const slos = await readSlos(root);
const pages = pagesOf(slos);

/** A file of something that is not there any more would stay. */
const namesIn = (folder: string) =>
  readdirSync(`${root}${folder}`, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();

it('dashboards/slos/schema.json is what the schema of SLOs says', () =>
  expectGenerated('dashboards/slos/schema.json', publishedSchema()));

it('docs/slos.md lists SLOs, burn rates and alerts', () => expectGeneratedBlocks('docs/slos.md', slosPageBlocks(slos)));

it('dashboards/alertmanager.yml has the routes', () =>
  expectGenerated('dashboards/alertmanager.yml', alertmanagerFile()));

describe.each(Object.values(profiles))('dashboards/prometheus/$name', (profile) => {
  const folder = `dashboards/prometheus/${profile.name}`;
  const rules = rulesOf(slos, profile);
  const files = scenarioFiles(slos, profile);

  it('records what the SLOs say', () => expectGenerated(`${folder}/recording.yaml`, ruleFile(rules.recording)));
  it('has the alerts', () => expectGenerated(`${folder}/alerts.yaml`, ruleFile(rules.alerts)));

  it.each(files)('has tests of $name', async (file) => {
    await expectGenerated(`${folder}/tests/rules/${file.name}.yaml`, ruleFile(rulesFor(file, rules)));
    await expectGenerated(`${folder}/tests/${file.name}.yaml`, ruleTestFile(file, slos, profile));
  });

  it('has no other files', () => {
    const wanted = files.map(({ name }) => `${name}.yaml`).toSorted();
    expect(namesIn(`${folder}/tests`)).toEqual(wanted);
    expect(namesIn(`${folder}/tests/rules`)).toEqual(wanted);
  });
});

describe('dashboards/grafana', () => {
  it.each(pages)('has the page $id', (page) =>
    expectGenerated(`dashboards/grafana/${page.id}.json`, grafanaDashboard(page)),
  );
  it('has no other files', () => {
    expect(namesIn('dashboards/grafana')).toEqual(pages.map(({ id }) => `${id}.json`).toSorted());
  });
});

describe('deploy/components/alerts', () => {
  const { recording, alerts } = rulesOf(slos, profiles.production);
  const folder = 'deploy/components/alerts';
  it('records what the SLOs say', () =>
    expectGenerated(`${folder}/recording.yaml`, prometheusRule('shop-recording', recording)));
  it('has the alerts', () => expectGenerated(`${folder}/alerts.yaml`, prometheusRule('shop-alerts', alerts)));
});
