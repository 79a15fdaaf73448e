import type uPlot from 'uplot';
import type { OrderColumns, OutcomeStyle } from '../page-data.ts';
import type { ChartSpec, Stage } from './chart.ts';
import { formatMs } from './format.ts';
import { addGlyph } from './glyphs.ts';
import { clipped } from './overlay.ts';
import type { Palette } from './palette.ts';

/** Every order where it was placed and as long as it took, on a logarithmic scale, and the median and p95 of each second. */
export function latencyChart(stage: Stage): ChartSpec {
  const { orders, outcomes, seconds } = stage.data;
  const isShown = (second: number) => seconds.p95[second] !== null;
  return {
    id: 'latency',
    height: 260,
    series: [
      { stroke: () => stage.palette().ink, width: 1, dash: [3, 3], points: { show: false } },
      {
        stroke: () => stage.palette().ink,
        width: 2,
        points: { show: (_, __, from, to) => hasLonePoint(isShown, from, to), size: 5 },
      },
    ],
    values: [seconds.p50, seconds.p95],
    y: {
      scale: { distr: 3, range: () => decadesOf(orders.tookMs) },
      axis: { values: (_, splits) => splits.map((ms) => (ms === null ? '' : formatMs(ms))) },
    },
    draw: (u) => clipped(u, (ctx) => drawOrders(u, ctx, orders, outcomes, stage.palette())),
  };
}

/** A line needs two points: isolated seconds would not be visible. */
function hasLonePoint(isShown: (second: number) => boolean, from: number, to: number): boolean {
  for (let second = from; second <= to; second++) {
    if (isShown(second) && !isShown(second - 1) && !isShown(second + 1)) return true;
  }
  return false;
}

function decadesOf(values: readonly number[]): [number, number] {
  let [min, max] = [Number.POSITIVE_INFINITY, 1];
  for (const value of values) [min, max] = [Math.min(min, Math.max(1, value)), Math.max(max, value)];
  const low = 10 ** Math.floor(Math.log10(Math.min(min, 100)));
  return [low, Math.max(1_000, max * 1.4)];
}

/** One path an outcome: thousands of marks are filled in one call. */
function drawOrders(
  u: uPlot,
  ctx: CanvasRenderingContext2D,
  { placedMs, tookMs, outcome }: OrderColumns,
  outcomes: readonly OutcomeStyle[],
  palette: Palette,
): void {
  const paths = outcomes.map(() => new Path2D());
  const crowded = placedMs.length > 4_000;
  const radius = (crowded ? 1.8 : 3) * devicePixelRatio;
  placedMs.forEach((ms, index) => {
    const kind = outcome[index] ?? 0;
    const [x, y] = [u.valToPos(ms / 1000, 'x', true), u.valToPos(Math.max(1, tookMs[index] ?? 1), 'y', true)];
    const path = paths[kind];
    if (path !== undefined)
      addGlyph(path, outcomes[kind]?.glyph ?? 0, x, y, isRare(kind, outcomes) ? radius * 1.4 : radius);
  });
  paths.forEach((path, kind) => {
    const tone = outcomes[kind]?.tone ?? 'lost';
    ctx.globalAlpha = tone === 'good' && crowded ? 0.45 : 0.75;
    ctx.fillStyle = palette[tone];
    ctx.fill(path);
  });
}

/** Most orders are Confirmed; the others must be visible among them. */
function isRare(kind: number, outcomes: readonly OutcomeStyle[]): boolean {
  return outcomes[kind]?.tone !== 'good';
}
