import type uPlot from 'uplot';
import type { PageData } from '../page-data.ts';

/** Shows the whole run again. */
export function zoomOut(charts: readonly uPlot[], { durationMs }: PageData): void {
  setTime(charts, 0, Math.max(1, durationMs / 1000));
}

/** Shows `factor` times as much of the run, with `second` in the middle; 5 s at least. */
export function zoomAround(charts: readonly uPlot[], second: number, factor: number): void {
  const { min = 0, max = 1 } = charts[0]?.scales.x ?? {};
  const width = Math.max(5, ((max ?? 1) - (min ?? 0)) * factor);
  const from = Math.max(0, second - width / 2);
  setTime(charts, from, from + width);
}

function setTime(charts: readonly uPlot[], min: number, max: number): void {
  for (const u of charts) u.setScale('x', { min, max });
}
