import { describe, expect, it } from 'vitest';
import { type Chart, svgChart } from './svg-chart.ts';

const chart = (change: Partial<Chart>): Chart => ({
  title: 'Evidence',
  summary: 'It rises.',
  durationMs: 10_000,
  series: [],
  from: 0,
  to: 10,
  ticks: [],
  ...change,
});
/** Of each line: 1,000 wide, 200 high, from the top. */
const linesOf = (change: Partial<Chart>) =>
  [...svgChart(chart(change)).text.matchAll(/<polyline class="([^"]+)" points="([^"]+)"/g)].map(
    ([, name = '', points = '']) => `${name}: ${points}`,
  );
const points = (...values: (number | undefined)[]) => values.map((value, index) => ({ ms: index * 1_000, value }));

describe('a chart', () => {
  it('has a line through its points, higher where the value is', () => {
    const series = [{ label: 'E', tone: 'bad', points: points(0, 5, 10) }] as const;
    expect(linesOf({ series })).toEqual(['bad solid: 0,200 100,100 200,0']);
  });

  it('interrupts a line where there is no value', () => {
    const series = [{ label: 'E', tone: 'bad', stroke: 'dashed', points: points(1, undefined, 1, 1) }] as const;
    expect(linesOf({ series })).toEqual(['bad dashed: 0,180', 'bad dashed: 200,180 300,180']);
  });

  it('keeps a value of steps until the next one, and the last until the end', () => {
    const series = [{ label: 'share', tone: 'good', shape: 'step', points: points(0, 10) }] as const;
    expect(linesOf({ series })).toEqual(['good solid: 0,200 100,200 100,0 1000,0']);
  });

  it('draws what is beyond the axis at its end', () => {
    const series = [{ label: 'E', tone: 'bad', points: points(-5, 99, Number.POSITIVE_INFINITY) }] as const;
    expect(linesOf({ series })).toEqual(['bad solid: 0,200 100,0 200,0']);
  });

  it('has each limit with its name, and a summary for readers who do not see it', () => {
    const { text } = svgChart(chart({ limits: [{ label: 'E: 125', value: 5, tone: 'bad' }] }));
    expect(text).toContain('<line class="limit bad solid" x1="0" x2="100%" y1="116" y2="116"/>');
    expect(text).toContain('>E: 125</text>');
    expect(text).toContain('role="img" aria-label="It rises."');
  });

  it('has texts as texts', () => {
    expect(svgChart(chart({ title: '<b>', summary: '"><script>' })).text).not.toMatch(/<b>|<script>/);
  });
});
