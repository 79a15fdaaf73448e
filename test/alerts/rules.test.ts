import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { hasPromtool, promtool } from './promtool.ts';

const root = new URL('../../', import.meta.url).pathname;

describe.skipIf(!hasPromtool).each(Object.values(profiles))('the rules of $name', { timeout: 120_000 }, ({ name }) => {
  const folder = `${root}dashboards/prometheus/${name}`;

  it('are valid', async () => {
    const { ok, text } = await promtool(['check', 'rules', 'recording.yaml', 'alerts.yaml'], folder);
    expect(ok, text).toBe(true);
  });

  it('pass their tests', async () => {
    const tests = globSync('tests/*.yaml', { cwd: folder });
    const { ok, text } = await promtool(['test', 'rules', ...tests], folder);
    expect(ok, text).toBe(true);
    expect(text.match(/SUCCESS/g)).toHaveLength(tests.length);
  });
});
