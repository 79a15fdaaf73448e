/*
 * Goal: a deploy can be read from its journal and samples alone: what it decided and why, for people and for programs.
 * Method: canaries that are simulated, and decided by the functions that decide real ones.
 */
import { describe, expect, it } from 'vitest';
import { renderJunitSuites } from '../../output/junit.ts';
import { deployReport } from './deploy-report.ts';
import { suiteOfDeploy } from './junit-suite.ts';
import { renderDeployPage } from './render-html.ts';
import { renderDeployMarkdown } from './render-markdown.ts';
import { aCanary, aRollingDeploy, type LeftOnDisk } from './testing/a-canary.ts';
import { checksOf, reasonsOf, verdictOf } from './words.ts';

const reportOf = ({ records, samples }: LeftOnDisk) => deployReport(records, 'a', samples);
const bad = reportOf(aCanary('a', { canaryBad: 0.2 }));
const good = reportOf(aCanary('a', { canaryBad: 0.002 }));
const rolling = deployReport([...aCanary('b', { canaryBad: 1 }).records, ...aRollingDeploy('a')], 'a', []);
const pageOf = (report: typeof bad) => renderDeployPage(report, { style: '' });

/** The points of the line with this tone and stroke, of a chart. */
function lineOf(page: string, title: string, kind: string): readonly { x: number; y: number }[] {
  const chart = page.split('<figure').find((part) => part.includes(title)) ?? '';
  return [...chart.matchAll(/<polyline class="([^"]+)" points="([^"]+)"/g)]
    .filter(([, name]) => name === kind)
    .flatMap(([, , points = '']) => points.split(' ').map((point) => point.split(',').map(Number)))
    .map(([x = 0, y = 0]) => ({ x, y }));
}

describe('the report on a canary that fails', () => {
  it('has the verdict with its reason before everything else', () => {
    expect(verdictOf(bad.run)).toBe('fail');
    expect(reasonsOf(bad)[0]).toBe('worse: failed requests: the canary is worse');
    expect(reasonsOf(bad)[1]).toMatch(/^failed requests: evidence [\d.e+]+ against the canary, the limit is 125$/);
    expect(pageOf(bad)).toMatch(/<body>\s*<header>[\s\S]*rolled-back[\s\S]*failed requests[\s\S]*Weights over time/);
  });

  it('has its shares, each with its time, and none at the end', () => {
    expect(bad.shares[0]).toEqual({ ms: 0, share: 0 });
    expect(bad.shares[1]).toEqual({ ms: 9_000, share: 0.01 });
    expect(bad.shares.at(-1)?.share).toBe(0);
  });

  it('has the evidence of each look, which crosses the line of test E in the last one', () => {
    const crossed = bad.evidence.filter(({ errors }) => errors >= -Math.log10(0.008));
    expect(crossed.length).toBeGreaterThan(0);
    expect(bad.evidence.at(-1)).toEqual(crossed.at(-1));
    const line = lineOf(pageOf(bad), 'Evidence, each power', 'bad solid');
    expect(line).toHaveLength(bad.evidence.length);
    expect(line.at(-1)?.y).toBeLessThan(line[0]?.y ?? 0);
    expect(pageOf(bad)).toContain('E: 125');
    expect(pageOf(bad)).toContain('S: 500');
    expect(pageOf(bad)).toContain('P: 20');
  });

  it('has the outcomes of both versions, and their error rates over time', () => {
    const [stable, canary] = bad.arms;
    expect(stable).toMatchObject({ arm: 'stable', version: '0.2.0-b1' });
    expect(canary).toMatchObject({ arm: 'canary', version: '0.2.0-g2' });
    expect((canary?.bad ?? 0) / (canary?.requests ?? 1)).toBeGreaterThan(0.05);
    expect(lineOf(pageOf(bad), 'Requests that fail', 'bad solid').length).toBeGreaterThan(2);
    expect(lineOf(pageOf(bad), 'Requests that fail', 'good dashed').length).toBeGreaterThan(2);
  });

  it('fails test E in JUnit, and its end', () => {
    const xml = renderJunitSuites([suiteOfDeploy(bad)]);
    expect(xml).toContain('failures="2" errors="1"');
    expect(xml).toMatch(/name="E: the canary fails no more often than stable"[^>]*><failure/);
    expect(xml).toMatch(/name="end"[^>]*><failure/);
  });

  it('is short in Markdown', () => {
    const text = renderDeployMarkdown(bad);
    expect(text).toMatch(/^## Deploy of orders 0\.2\.0-g2: rolled-back\n\nthe release of before has all calls\./);
    expect(text).toMatch(/\| 0\.2\.0-g2 \| canary \| \d+ \| \d+ \| [\d.]+ % \|/);
  });
});

describe('the report on a good canary', () => {
  it('passes each check, with all calls at the end', () => {
    expect(good.run.state).toBe('done');
    expect(good.shares.map(({ share }) => share)).toEqual([0, 0.01, 0.05, 0.25, 0.5, 1]);
    expect(checksOf(good).filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(checksOf(good).map(({ id }) => id)).toEqual(expect.arrayContaining(['E', 'S', 'P', 'audit', 'exit']));
    expect(renderJunitSuites([suiteOfDeploy(good)])).toContain('failures="0" errors="0"');
  });
});

describe('the report on a rolling deploy', () => {
  it('says how the trace was not as its contract', () => {
    expect(pageOf(rolling)).toContain('What is different from the contract');
    expect(pageOf(rolling)).toContain('<span class="good">+   orders &quot;SELECT orders.orders&quot;</span>');
    expect(checksOf(rolling)).toMatchObject([{ group: 'deploy', verdict: 'fail' }]);
    expect(rolling.states.map(({ state }) => state)).toEqual(['planned', 'building', 'preflight', 'rolling-back']);
  });

  it('has no chart of what only canaries have, and says so', () => {
    expect(pageOf(rolling)).not.toContain('<svg');
    expect(pageOf(rolling)).toContain('Only a canary has a share of the calls');
  });

  it('runs no script, and has texts of the deploy as text', () => {
    expect(pageOf(rolling)).not.toContain('<script');
    expect(pageOf(rolling)).toContain('0.2.0-&lt;script&gt;');
  });
});

it('needs a deploy that begins in the records', () => {
  expect(() => deployReport([], 'a', [])).toThrow(RangeError);
});
