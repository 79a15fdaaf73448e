/** Draws one order's mark around (x, y), of the same shapes and order as GLYPHS in page-data.ts. `r` is its half size. */
export function addGlyph(path: Path2D, glyph: number, x: number, y: number, r: number): void {
  (SHAPES[glyph % SHAPES.length] ?? dot)(path, x, y, r);
}

type Shape = (path: Path2D, x: number, y: number, r: number) => void;

const dot: Shape = (path, x, y, r) => {
  path.moveTo(x + r, y);
  path.arc(x, y, r, 0, 2 * Math.PI);
};

const triangle: Shape = (path, x, y, r) => polygon(path, [x, y - r, x + r, y + r, x - r, y + r]);
const square: Shape = (path, x, y, r) => path.rect(x - r, y - r, 2 * r, 2 * r);
const diamond: Shape = (path, x, y, r) => polygon(path, [x, y - r, x + r, y, x, y + r, x - r, y]);

const plus: Shape = (path, x, y, r) => {
  path.rect(x - r, y - r / 3, 2 * r, (2 * r) / 3);
  path.rect(x - r / 3, y - r, (2 * r) / 3, 2 * r);
};

const cross: Shape = (path, x, y, r) => {
  const t = r / 3;
  polygon(path, [x - r, y - r + t, x - r + t, y - r, x + r, y + r - t, x + r - t, y + r]);
  polygon(path, [x + r - t, y - r, x + r, y - r + t, x - r + t, y + r, x - r, y + r - t]);
};

const SHAPES: readonly Shape[] = [dot, triangle, square, diamond, plus, cross];

function polygon(path: Path2D, corners: readonly number[]): void {
  for (let at = 0; at < corners.length; at += 2) {
    const [x = 0, y = 0] = corners.slice(at, at + 2);
    if (at === 0) path.moveTo(x, y);
    else path.lineTo(x, y);
  }
  path.closePath();
}
