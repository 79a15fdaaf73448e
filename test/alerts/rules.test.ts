import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { hasPromtool, promtool, versions } from './promtool.ts';

const root = new URL('../../', import.meta.url).pathname;
const cases = versions.flatMap((programs) =>
  Object.values(profiles).map(({ name }) => ({ name, version: programs.version, programs })),
);

describe.skipIf(!hasPromtool).each(cases)('promtool $version: the rules of $name', { timeout: 120_000 }, (one) => {
  const folder = `${root}dashboards/prometheus/${one.name}`;

  it('are valid', async () => {
    const { ok, text } = await promtool(['check', 'rules', 'recording.yaml', 'alerts.yaml'], folder, one.programs);
    expect(ok, text).toBe(true);
  });

  it('pass their tests', async () => {
    const tests = globSync('tests/*.yaml', { cwd: folder });
    const { ok, text } = await promtool(['test', 'rules', ...tests], folder, one.programs);
    expect(ok, text).toBe(true);
    expect(text.match(/SUCCESS/g)).toHaveLength(tests.length);
  });
});
