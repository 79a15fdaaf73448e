import { html, type Markup } from './html.ts';
import type { OutcomeTone } from './page-data.ts';
import { clockText } from './words.ts';

/** Points in the order of time; a point without a value interrupts its line. */
export interface ChartSeries {
  readonly label: string;
  readonly tone: OutcomeTone;
  readonly stroke?: 'solid' | 'dashed' | 'dotted';
  /** `step`: a value holds until the next one. */
  readonly shape?: 'line' | 'step';
  readonly points: readonly { readonly ms: number; readonly value: number | undefined }[];
}

/** A horizontal line that a series should reach, or not. */
export interface ChartLimit {
  readonly label: string;
  readonly value: number;
  readonly tone: OutcomeTone;
  readonly stroke?: 'solid' | 'dashed' | 'dotted';
}

export interface Chart {
  readonly title: string;
  /** What it shows, for readers who do not see it. */
  readonly summary: string;
  readonly durationMs: number;
  readonly series: readonly ChartSeries[];
  readonly limits?: readonly ChartLimit[];
  /** Values are in the unit of the axis: of a logarithmic one, logarithms. */
  readonly from: number;
  readonly to: number;
  /** Where the axis has lines with a text. */
  readonly ticks: readonly { readonly value: number; readonly text: string }[];
}

const HEIGHT = 200;
/** For the text of the highest line. */
const TOP = 16;
/** Of the drawing without text, which is stretched to the page. */
const WIDTH = 1_000;
const TIMES = 5;

/**
 * A chart of lines over time as SVG without a script: text keeps its size at each width of the page, and only the lines are stretched.
 * Values beyond the axis are drawn at its end.
 */
export function svgChart(chart: Chart): Markup {
  const { title, summary, series, limits = [], ticks, durationMs } = chart;
  const inside = (value: number) =>
    round(HEIGHT - (HEIGHT * (clamp(value, chart) - chart.from)) / (chart.to - chart.from));
  const y = (value: number) => TOP + inside(value);
  const x = (ms: number) => round((WIDTH * Math.min(ms, durationMs)) / Math.max(1, durationMs));
  const grid = ticks.map(
    ({ value, text }) =>
      html`<line class="grid" x1="0" x2="100%" y1="${y(value)}" y2="${y(value)}"/><text x="2" y="${y(value) - 3}">${text}</text>`,
  );
  const drawn = series.flatMap((one) =>
    pathsOf(one, durationMs).map(
      (points) =>
        html`<polyline class="${one.tone} ${one.stroke ?? 'solid'}" points="${points.map(({ ms, value }) => `${x(ms)},${inside(value)}`).join(' ')}"/>`,
    ),
  );
  const lines = limits.map(
    ({ value, tone, stroke }) =>
      html`<line class="limit ${tone} ${stroke ?? 'solid'}" x1="0" x2="100%" y1="${y(value)}" y2="${y(value)}"/>`,
  );
  const names = limits.map(
    ({ value, label }) => html`<text class="end" x="100%" dx="-2" y="${y(value) - 3}">${label}</text>`,
  );
  const times = Array.from({ length: TIMES + 1 }, (_, index) => {
    const place = index === 0 ? 'begin' : index === TIMES ? 'end' : 'middle';
    return html`<text class="${place}" x="${(100 * index) / TIMES}%" y="${TOP + HEIGHT + 16}">${clockText((durationMs * index) / TIMES)}</text>`;
  });
  return html`<figure class="chart"><figcaption><h3>${title}</h3>
<ul class="legend">${series.map(({ label, tone, stroke }) => html`<li class="${tone}"><span class="stroke ${stroke ?? 'solid'}"></span>${label}</li>`)}</ul></figcaption>
<svg class="plot" width="100%" height="${TOP + HEIGHT + 20}" role="img" aria-label="${summary}">
${grid}${lines}<svg y="${TOP}" width="100%" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">${drawn}</svg>${names}${times}
</svg></figure>`;
}

interface Point {
  readonly ms: number;
  readonly value: number;
}

/** Parts without a gap. */
function pathsOf({ points, shape }: ChartSeries, durationMs: number): readonly (readonly Point[])[] {
  const paths: Point[][] = [];
  let open: Point[] | undefined;
  for (const { ms, value } of points) {
    const before = open?.at(-1);
    if (shape === 'step' && before !== undefined) open?.push({ ms, value: before.value });
    if (value === undefined) {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = [];
      paths.push(open);
    }
    open.push({ ms, value });
  }
  const last = open?.at(-1);
  if (shape === 'step' && last !== undefined) open?.push({ ms: durationMs, value: last.value });
  return paths;
}

const clamp = (value: number, { from, to }: Chart) => Math.min(to, Math.max(from, value));
const round = (value: number) => Math.round(value * 10) / 10;
