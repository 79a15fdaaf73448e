import type uPlot from 'uplot';
import type { Span } from '../page-data.ts';
import type { Palette } from './palette.ts';

/** Runs `draw` with everything outside the plotting area cut off. */
export function clipped(u: uPlot, draw: (ctx: CanvasRenderingContext2D) => void): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

/** Left edge and width of a span, in canvas pixels. Never narrower than 2, so that it can be seen. */
export function extentOf(u: uPlot, { fromMs, toMs }: Pick<Span, 'fromMs' | 'toMs'>): { left: number; width: number } {
  const left = u.valToPos(fromMs / 1000, 'x', true);
  return { left, width: Math.max(2, u.valToPos(toMs / 1000, 'x', true) - left) };
}

/** Behind the data of every chart: faults as tinted bands between dashed edges, phases as lines. */
export function drawOverlay(u: uPlot, faults: readonly Span[], phases: readonly Span[], palette: Palette): void {
  clipped(u, (ctx) => {
    const { top, height } = u.bbox;
    ctx.lineWidth = devicePixelRatio;
    for (const fault of faults) {
      const { left, width } = extentOf(u, fault);
      ctx.globalAlpha = 0.14;
      ctx.fillStyle = palette.fault;
      ctx.fillRect(left, top, width, height);
      ctx.globalAlpha = 0.8;
      ctx.strokeStyle = palette.fault;
      ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
      strokeVerticals(ctx, [left, left + width], u.bbox);
    }
    ctx.globalAlpha = 0.7;
    ctx.setLineDash([]);
    ctx.strokeStyle = palette.muted;
    strokeVerticals(
      ctx,
      phases.map((phase) => extentOf(u, phase).left),
      u.bbox,
    );
  });
}

function strokeVerticals(ctx: CanvasRenderingContext2D, xs: readonly number[], bbox: uPlot.BBox): void {
  ctx.beginPath();
  for (const x of xs) {
    ctx.moveTo(Math.round(x) + 0.5, bbox.top);
    ctx.lineTo(Math.round(x) + 0.5, bbox.top + bbox.height);
  }
  ctx.stroke();
}
