import type { ChartSpec, Stage } from './chart.ts';

/** Unpublished events and compensations that are left, as reported by the services once a second. */
export function waitingChart(stage: Stage): ChartSpec {
  const { pending, waiting } = stage.data.seconds;
  const top = [...pending, ...waiting].reduce<number>((max, value) => Math.max(max, value ?? 0), 5) * 1.1;
  return {
    id: 'waiting',
    height: 140,
    series: [
      { stroke: () => stage.palette().good, width: 2, points: { show: false } },
      { stroke: () => stage.palette().bad, width: 2, dash: [6, 4], points: { show: false } },
    ],
    values: [pending, waiting],
    y: {
      scale: { range: () => [0, top] },
      axis: { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000] },
    },
  };
}
