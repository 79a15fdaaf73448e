import type uPlot from 'uplot';
import type { PageData } from '../page-data.ts';
import { moveCursor, showValues } from './cursor.ts';
import { zoomAround, zoomOut } from './zoom.ts';

/** The charts without a mouse: arrows move the cursor by a second (with Shift by ten), + and - zoom, Escape shows all. */
export function listenToKeys(element: HTMLElement, charts: readonly uPlot[], data: PageData): void {
  const last = data.seconds.p50.length - 1;
  let second = 0;
  const go = (to: number) => {
    second = Math.min(last, Math.max(0, to));
    moveCursor(charts, second);
    showValues(data, second);
  };
  const actions: Readonly<Record<string, (step: number) => void>> = {
    ArrowLeft: (step) => go(second - step),
    ArrowRight: (step) => go(second + step),
    Home: () => go(0),
    End: () => go(last),
    '+': () => zoomAround(charts, second, 0.5),
    '-': () => zoomAround(charts, second, 2),
    Escape: () => zoomOut(charts, data),
  };
  element.addEventListener('keydown', (event) => {
    const action = actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(event.shiftKey ? 10 : 1);
  });
}
