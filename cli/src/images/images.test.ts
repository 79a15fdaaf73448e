import type Docker from 'dockerode';
import { describe, expect, it } from 'vitest';
import { contentOf } from './images.ts';

type Inspected = Pick<Docker.ImageInspectInfo, 'RootFS' | 'Config'>;

function inspected(layers: readonly string[], config: object = {}): Inspected {
  const Config = {
    Env: ['NODE_ENV=production'],
    User: '1000:1000',
    Entrypoint: ['node', '/app/service.cjs'],
    ...config,
  };
  return { RootFS: { Type: 'layers', Layers: [...layers] }, Config } as unknown as Inspected;
}

describe('the content of an image', () => {
  const content = contentOf(inspected(['sha256:a', 'sha256:b'], { Labels: { 'dev.shopctl.sources': '1' } }));

  it('is the same where only labels differ: what it was built from has changed, and it has not', () => {
    expect(contentOf(inspected(['sha256:a', 'sha256:b'], { Labels: { 'dev.shopctl.sources': '2' } }))).toBe(content);
  });

  it.each([
    ['a layer', ['sha256:a', 'sha256:c'], {}],
    ['a variable', ['sha256:a', 'sha256:b'], { Env: ['NODE_ENV=test'] }],
    ['the user', ['sha256:a', 'sha256:b'], { User: '0:0' }],
    ['the program', ['sha256:a', 'sha256:b'], { Entrypoint: ['node', '/app/other.mjs'] }],
  ])('changes with %s', (_, layers, config) => {
    expect(contentOf(inspected(layers, config))).not.toBe(content);
  });
});
