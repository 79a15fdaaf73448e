import type uPlot from 'uplot';
import type { Lane, Span } from '../page-data.ts';
import type { ChartSpec, Stage } from './chart.ts';
import { hatch } from './hatch.ts';
import { clipped, extentOf } from './overlay.ts';
import type { Palette } from './palette.ts';

const LANE_HEIGHT = 24;

/** Lanes of named spans on the time axis: phases, steps, faults; or an edge's breaker. */
export function lanesChart(id: string, lanes: readonly Lane[], stage: Stage): ChartSpec {
  return {
    id,
    height: lanes.length * LANE_HEIGHT + 36,
    y: {
      scale: { dir: -1, range: () => [0, Math.max(1, lanes.length)] },
      axis: {
        splits: () => lanes.map((_, index) => index + 0.5),
        values: () => lanes.map(({ label }) => label),
        grid: { show: false },
        ticks: { show: false },
      },
    },
    draw: (u) => clipped(u, (ctx) => drawLanes(u, ctx, lanes, stage.palette())),
  };
}

function drawLanes(u: uPlot, ctx: CanvasRenderingContext2D, lanes: readonly Lane[], palette: Palette): void {
  for (const [index, lane] of lanes.entries()) drawLane(u, ctx, lane, index, palette);
}

function drawLane(u: uPlot, ctx: CanvasRenderingContext2D, lane: Lane, index: number, palette: Palette): void {
  const top = u.valToPos(index, 'y', true) + 2 * devicePixelRatio;
  const height = u.valToPos(index + 1, 'y', true) - top - 2 * devicePixelRatio;
  for (const span of lane.spans) drawSpan(u, ctx, span, { top, height }, palette);
}

function drawSpan(
  u: uPlot,
  ctx: CanvasRenderingContext2D,
  span: Span,
  { top, height }: { top: number; height: number },
  palette: Palette,
): void {
  const { left, width } = extentOf(u, span);
  ctx.globalAlpha = span.tone === 'plain' ? 0.18 : 0.3;
  ctx.fillStyle = hatch(palette[span.tone], HATCH_OF[span.tone] ?? 0, palette.surface);
  ctx.fillRect(left, top, width, height);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = palette[span.tone];
  ctx.lineWidth = devicePixelRatio;
  ctx.strokeRect(left + 0.5, top + 0.5, Math.max(1, width - 1), height - 1);
  // A span that began before the visible part is named where it becomes visible.
  const seenFrom = Math.max(left, u.bbox.left);
  writeInside(ctx, span.label, { left: seenFrom, top, width: left + width - seenFrom, height }, palette.ink);
}

/** Shows the tone without its colour. */
const HATCH_OF: Readonly<Partial<Record<Span['tone'], number>>> = { fault: 1, bad: 2, warn: 3 };

/** The label, shortened to what fits; nothing when not even two letters do. */
function writeInside(
  ctx: CanvasRenderingContext2D,
  label: string,
  box: { left: number; top: number; width: number; height: number },
  colour: string,
): void {
  const padding = 4 * devicePixelRatio;
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.fillStyle = colour;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  const text = shorten(ctx, label, box.width - 2 * padding);
  if (text !== '') ctx.fillText(text, box.left + padding, box.top + box.height / 2);
}

function shorten(ctx: CanvasRenderingContext2D, label: string, width: number): string {
  if (ctx.measureText(label).width <= width) return label;
  for (let length = label.length - 1; length >= 2; length--) {
    const text = `${label.slice(0, length)}…`;
    if (ctx.measureText(text).width <= width) return text;
  }
  return '';
}
