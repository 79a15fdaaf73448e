/**
 * The report's script: draws the charts from the page's data block and wires cursor, keys, zoom, theme, paper and the
 * list of orders. Everything else in the page is there without it.
 */
import type { PageData } from '../page-data.ts';
import { createChart, type Stage, widthOf } from './chart.ts';
import { showValues } from './cursor.ts';
import { hatch } from './hatch.ts';
import { listenToKeys } from './keyboard.ts';
import { lanesChart } from './lanes-chart.ts';
import { latencyChart } from './latency-chart.ts';
import { wireOrderList } from './order-list.ts';
import { type Palette, readPalette } from './palette.ts';
import { throughputChart } from './throughput-chart.ts';
import { usageChart } from './usage-chart.ts';
import { waitingChart } from './waiting-chart.ts';
import { zoomOut } from './zoom.ts';

/** Width of an A4 page without its margins, CSS px. */
const PAPER_WIDTH = 690;

const data = JSON.parse(document.getElementById('data')?.textContent ?? '') as PageData;
let palette: Palette = readPalette();
const stage: Stage = { data, palette: () => palette };

const charts = [
  // All charts move together, so one of them reports the cursor.
  { ...lanesChart('happenings', data.happenings, stage), onCursor: (second?: number) => showValues(data, second) },
  // A run may know its responses by second alone.
  ...(data.orders.placedMs.length > 0 ? [latencyChart(stage)] : []),
  ...(data.outcomes.length > 0 ? [throughputChart(stage)] : []),
  waitingChart(stage),
  ...(data.usage.length > 0 ? [usageChart(stage)] : []),
  ...(data.breakers.length > 0 ? [lanesChart('breakers', data.breakers, stage)] : []),
].map((spec) => createChart(spec, stage));

wireKeys();
wireZoom();
wireAppearance();
wireOrderList();
paintSwatches();
// For measurements of how long a large report takes.
queueMicrotask(() => {
  document.documentElement.dataset.drawnMs = String(Math.round(performance.now()));
});

function wireKeys(): void {
  const element = document.getElementById('charts');
  if (element !== null) listenToKeys(element, charts, data);
}

function wireZoom(): void {
  document.getElementById('whole-run')?.addEventListener('click', () => zoomOut(charts, data));
}

function wireAppearance(): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  const observer = new ResizeObserver(() => resize());
  const element = document.getElementById('charts');
  if (element !== null) observer.observe(element);
  addEventListener('beforeprint', () => {
    document.documentElement.classList.add('paper');
    resize(PAPER_WIDTH);
    repaint();
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('paper');
    resize();
    repaint();
  });
}

function resize(fixedWidth?: number): void {
  for (const u of charts) {
    const width = fixedWidth ?? widthOf(u.root.parentElement ?? document.body);
    if (width !== u.width) u.setSize({ width, height: u.height });
  }
}

function repaint(): void {
  palette = readPalette();
  for (const u of charts) u.redraw(false, true);
  paintSwatches();
}

/** The legend's samples of the bars' patterns. */
function paintSwatches(): void {
  for (const swatch of document.querySelectorAll<HTMLCanvasElement>('canvas[data-outcome]')) {
    const { tone, glyph } = data.outcomes[Number(swatch.dataset.outcome)] ?? { tone: 'lost', glyph: 0 };
    const ctx = swatch.getContext('2d');
    if (ctx === null) continue;
    ctx.fillStyle = hatch(palette[tone], glyph, palette.surface);
    ctx.fillRect(0, 0, swatch.width, swatch.height);
  }
}
