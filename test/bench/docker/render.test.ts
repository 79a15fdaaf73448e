import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BuiltImage } from '../../../cli/src/images/build-image.ts';
import { renderImages, renderStarts, replaceBetween } from './render.ts';

const page = readFileSync(new URL('../../../docs/docker.md', import.meta.url), 'utf8');
const image = (service: BuiltImage['service'], ownBytes: number) =>
  ({ service, ownBytes, sizeBytes: 200e6 + ownBytes }) as BuiltImage;

describe('the tables of containers', () => {
  it('count the shared base once', () => {
    const text = renderImages([image('orders', 7_600_000), image('stock', 6_600_000)], '`node:24-slim`');
    expect(text).toContain('| shop/orders | 208 MB | 7.6 MB |');
    expect(text).toContain('| all 2 together | 214 MB | 14.2 MB |');
    expect(text).toContain('On `node:24-slim` of 200 MB');
  });

  it('show both runtimes side by side, the median before its range', () => {
    const figures = (median: number) => ({
      upMs: { median, min: 3_000, max: 9_000 },
      serviceMs: { median, min: 1_000, max: 2_000 },
      rssBytes: { median: 500e6, min: 500e6, max: 510e6 },
    });
    const text = renderStarts(
      {
        images: [],
        components: ['postgres: installed'],
        runtimes: { process: figures(3_500), docker: figures(4_200) },
      },
      5,
      { cpus: '2 x Some', memoryGb: 8, system: 'linux 6', node: 'v24', load1: 0.04 },
    );
    expect(text).toContain('2 x Some, 8 GB, linux 6, Node v24, load before the run 0.0; 5 rounds');
    expect(text).toContain('data there | 3.5 s (3.0 s to 9.0 s) | 4.2 s (3.0 s to 9.0 s) |');
    expect(text).toContain('500 MB (500 MB to 510 MB)');
  });

  it('have their places in docs/docker.md, which nothing else of the page is lost for', () => {
    for (const marker of ['images', 'starts'] as const) {
      const written = replaceBetween(page, marker, 'new figures');
      expect(written).toContain('new figures');
      expect(replaceBetween(written, marker, 'new figures')).toBe(written);
    }
    expect(() => replaceBetween('a page', 'images', '')).toThrow('the page has no <!-- images');
  });
});
