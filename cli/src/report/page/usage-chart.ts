import type uPlot from 'uplot';
import type { UsageRow } from '../page-data.ts';
import type { ChartSpec, Stage } from './chart.ts';
import { clipped } from './overlay.ts';
import type { Palette } from './palette.ts';

const ROW_HEIGHT = 22;

/** Room for a number of three digits in a cell, CSS px. */
const CELL_WIDTH = 30;

/** A row a process: the more it used, the darker the cell. A cell that has room says how much, as the mean of its seconds. */
export function usageChart(stage: Stage): ChartSpec {
  const { usage } = stage.data;
  return {
    id: 'usage',
    height: usage.length * ROW_HEIGHT + 36,
    y: {
      scale: { dir: -1, range: () => [0, Math.max(1, usage.length)] },
      axis: {
        splits: () => usage.map((_, index) => index + 0.5),
        values: () => usage.map(({ label }) => label),
        grid: { show: false },
        ticks: { show: false },
      },
    },
    draw: (u) => clipped(u, (ctx) => drawRows(u, ctx, usage, stage.palette())),
  };
}

function drawRows(u: uPlot, ctx: CanvasRenderingContext2D, rows: readonly UsageRow[], palette: Palette): void {
  const oneSecond = u.valToPos(1, 'x', true) - u.valToPos(0, 'x', true);
  const seconds = Math.max(1, Math.ceil((CELL_WIDTH * devicePixelRatio) / oneSecond));
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  for (const [index, { percent }] of rows.entries()) {
    const top = u.valToPos(index, 'y', true) + devicePixelRatio;
    const height = u.valToPos(index + 1, 'y', true) - top - devicePixelRatio;
    for (let second = 0; second < percent.length; second += seconds) {
      const mean = meanOf(percent.slice(second, second + seconds));
      if (mean === undefined) continue;
      const left = u.valToPos(second, 'x', true);
      const width = u.valToPos(Math.min(second + seconds, percent.length), 'x', true) - left;
      drawCell(ctx, mean, { left, top, width: width - devicePixelRatio, height }, palette);
    }
  }
}

function drawCell(
  ctx: CanvasRenderingContext2D,
  percent: number,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
  palette: Palette,
): void {
  // Up to a shade on which the number can still be read.
  ctx.globalAlpha = 0.04 + 0.46 * Math.min(1, percent / 100);
  ctx.fillStyle = palette.good;
  ctx.fillRect(left, top, width, height);
  ctx.globalAlpha = 1;
  ctx.fillStyle = palette.ink;
  const text = String(Math.round(percent));
  if (ctx.measureText(text).width < width) ctx.fillText(text, left + width / 2, top + height / 2);
}

function meanOf(values: readonly (number | null)[]): number | undefined {
  const measured = values.filter((value) => value !== null);
  return measured.length === 0 ? undefined : measured.reduce((sum, value) => sum + value, 0) / measured.length;
}
