import type uPlot from 'uplot';
import type { ChartSpec, Stage } from './chart.ts';
import { hatch } from './hatch.ts';
import { clipped } from './overlay.ts';

/** Responses a second, one bar a second, its parts by outcome above each other. */
export function throughputChart(stage: Stage): ChartSpec {
  const { responses } = stage.data.seconds;
  const totals = (responses[0] ?? []).map((_, second) => responses.reduce((sum, one) => sum + (one[second] ?? 0), 0));
  const top = Math.max(1, ...totals) * 1.1;
  return {
    id: 'throughput',
    height: 150,
    y: { scale: { range: () => [0, top] }, axis: { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] } },
    draw: (u) => clipped(u, (ctx) => drawBars(u, ctx, stage)),
  };
}

function drawBars(u: uPlot, ctx: CanvasRenderingContext2D, stage: Stage): void {
  const { outcomes, seconds } = stage.data;
  const palette = stage.palette();
  const base = seconds.p50.map(() => 0);
  const oneSecond = u.valToPos(1, 'x', true) - u.valToPos(0, 'x', true);
  const gap = oneSecond > 6 * devicePixelRatio ? devicePixelRatio : 0;
  seconds.responses.forEach((responses, kind) => {
    const { tone, glyph } = outcomes[kind] ?? { tone: 'lost', glyph: 0 };
    ctx.fillStyle = hatch(palette[tone], glyph, palette.surface);
    responses.forEach((count, second) => {
      if (count === 0) return;
      const from = base[second] ?? 0;
      base[second] = from + count;
      const bottom = u.valToPos(from, 'y', true);
      const top = u.valToPos(from + count, 'y', true);
      ctx.fillRect(u.valToPos(second, 'x', true) + gap, top, Math.max(1, oneSecond - gap), bottom - top);
    });
  });
}
