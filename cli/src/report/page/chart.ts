import uPlot from 'uplot';
import type { PageData } from '../page-data.ts';
import { formatClock } from './format.ts';
import { drawOverlay } from './overlay.ts';
import type { Palette } from './palette.ts';

/** What all charts share. `palette()` is asked at every drawing, because it changes with the theme and on paper. */
export interface Stage {
  readonly data: PageData;
  palette(): Palette;
}

/** One chart of the stack. */
export interface ChartSpec {
  /** Of the element it is drawn into. */
  readonly id: string;
  /** Of the plotting area and the time axis, CSS px. */
  readonly height: number;
  readonly series?: readonly uPlot.Series[];
  /** One array a series, one entry a second. */
  readonly values?: readonly (readonly (number | null)[])[];
  readonly y: { readonly scale: uPlot.Scale; readonly axis: uPlot.Axis };
  /** Drawn over the grid and under the lines. */
  draw?(u: uPlot): void;
  /** The cursor is at this second; undefined when it has left the charts. */
  onCursor?(second: number | undefined): void;
}

const FONT = '12px system-ui, sans-serif';
const SYNC = 'time';

/** Wide enough for the names of edges, on a phone just so; the same in every chart, so that their time axes are aligned. */
const axisWidth = (u: uPlot) => (u.width < 480 ? 100 : 128);

export function createChart(spec: ChartSpec, stage: Stage): uPlot {
  const target = document.getElementById(spec.id);
  if (target === null) throw new Error(`the page has no element ${spec.id}`);
  const values = spec.values ?? [];
  const seconds = Array.from(stage.data.seconds.p50, (_, second) => second);
  // uPlot has a cursor position only where a chart has a series; charts of lanes get one that is never drawn.
  const unseen = seconds.map(() => null);
  const options: uPlot.Options = {
    width: widthOf(target),
    height: spec.height,
    legend: { show: false },
    cursor: {
      sync: { key: SYNC, scales: ['x', null] },
      drag: { x: true, y: false },
      points: { show: false },
      y: false,
    },
    padding: [8, 12, 0, 0],
    scales: { x: { time: false, range: timeRange(stage.data) }, y: spec.y.scale },
    axes: [timeAxis(stage), { ...axisColours(stage), size: axisWidth, ...spec.y.axis }],
    series: [{}, ...(spec.series ?? [{ show: true, paths: () => null, points: { show: false } }])],
    hooks: {
      drawClear: [(u) => drawOverlay(u, stage.data.faults, stage.data.phases, stage.palette())],
      drawAxes: [(u) => spec.draw?.(u)],
      setCursor: [(u) => spec.onCursor?.(u.cursor.idx ?? undefined)],
    },
  };
  return new uPlot(options, [seconds, ...(values.length > 0 ? values : [unseen])] as uPlot.AlignedData, target);
}

/** The width a chart may take, CSS px. */
export function widthOf(element: HTMLElement): number {
  return Math.max(280, Math.floor(element.clientWidth));
}

/** From 0 to the end of the run, unless a part of it is shown. */
function timeRange({ durationMs }: PageData): uPlot.Range.Function {
  const end = Math.max(1, durationMs / 1000);
  return (_, min, max) => (min === null || max === null || max - min >= end ? [0, end] : [min, max]);
}

function timeAxis(stage: Stage): uPlot.Axis {
  return {
    ...axisColours(stage),
    size: 26,
    space: 60,
    incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600],
    values: (_, splits) => splits.map(formatClock),
  };
}

function axisColours(stage: Stage): uPlot.Axis {
  return {
    font: FONT,
    gap: 4,
    stroke: () => stage.palette().muted,
    grid: { stroke: () => stage.palette().grid, width: 1 },
    ticks: { stroke: () => stage.palette().grid, width: 1, size: 4 },
  };
}
