/** A fill in one colour, distinguished by its pattern as well: none, diagonals, the other diagonals, bars, dots, a grid. */
export function hatch(colour: string, pattern: number, surface: string): CanvasPattern | string {
  if (pattern % 6 === 0) return colour;
  const size = 6 * devicePixelRatio;
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const ctx = tile.getContext('2d');
  if (ctx === null) return colour;
  ctx.fillStyle = colour;
  ctx.fillRect(0, 0, size, size);
  ctx.strokeStyle = surface;
  ctx.lineWidth = 1.4 * devicePixelRatio;
  ctx.beginPath();
  for (const [fromX, fromY, toX, toY] of STROKES[pattern % 6] ?? []) {
    ctx.moveTo(fromX * size, fromY * size);
    ctx.lineTo(toX * size, toY * size);
  }
  ctx.stroke();
  return ctx.createPattern(tile, 'repeat') ?? colour;
}

type Stroke = readonly [number, number, number, number];

/** Lines within a tile of size 1. Diagonals overlap the corners, so that tiles meet without gaps. */
const STROKES: readonly (readonly Stroke[])[] = [
  [],
  [
    [-0.5, 0.5, 0.5, -0.5],
    [0, 1, 1, 0],
    [0.5, 1.5, 1.5, 0.5],
  ],
  [
    [-0.5, 0.5, 0.5, 1.5],
    [0, 0, 1, 1],
    [0.5, -0.5, 1.5, 0.5],
  ],
  [[0, 0.5, 1, 0.5]],
  [[0.4, 0.5, 0.6, 0.5]],
  [
    [0, 0.5, 1, 0.5],
    [0.5, 0, 0.5, 1],
  ],
];
