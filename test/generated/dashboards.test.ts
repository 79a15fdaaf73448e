import { describe, it } from 'vitest';
import { readSlos } from '../../cli/src/slo/catalog.ts';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { publishedSchema } from '../../cli/src/slo/schema.ts';
import { ruleFile, rulesOf } from '../../dashboards/rule-files.ts';
import { expectGenerated } from './expect-generated.ts';

const root = new URL('../../', import.meta.url).pathname;
const slos = await readSlos(root);

it('dashboards/slos/schema.json is what the schema of SLOs says', () =>
  expectGenerated('dashboards/slos/schema.json', publishedSchema()));

describe.each(Object.values(profiles))('dashboards/prometheus/$name', (profile) => {
  const folder = `dashboards/prometheus/${profile.name}`;
  const rules = rulesOf(slos, profile);

  it('records what the SLOs say', () => expectGenerated(`${folder}/recording.yaml`, ruleFile(rules.recording)));
  it('has the alerts', () => expectGenerated(`${folder}/alerts.yaml`, ruleFile(rules.alerts)));
});
