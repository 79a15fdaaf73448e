import { expect, it } from 'vitest';
import type { ImageIdentity, ServiceImage } from '../images/images.ts';
import { checkImage } from './release-image.ts';

const imageOf = (identity: Partial<ImageIdentity> | undefined): ServiceImage => ({
  name: 'shop/orders:1.4.0',
  id: 'sha256:1f0c9a3e',
  sizeBytes: 1,
  user: '1000:1000',
  sources: 'a',
  content: 'b',
  identity: identity && { subject: 'orders', build: 'production', version: '1.4.0', ...identity },
});
const wanted = { service: 'orders', build: 'production' } as const;

it('an image of the service, in the build that the platform runs, can be deployed', () => {
  expect(() => checkImage('shop/orders:1.4.0', imageOf({}), wanted)).not.toThrow();
});

it.each([
  ['that is not there', undefined, { code: 'image_missing', exitCode: 3 }],
  ['of another service', imageOf({ subject: 'stock' }), { what: expect.stringContaining('of stock, not of orders') }],
  ['of the migrations', imageOf({ subject: 'migrations' }), { what: expect.stringContaining('of migrations') }],
  ['of another build', imageOf({ build: 'harness' }), { why: 'this platform has no failpoints' }],
  [
    'without labels',
    imageOf(undefined),
    { next: 'make it with "shopctl build orders --tag TAG --force"', what: expect.stringContaining('does not say') },
  ],
])('an image %s is refused', (_what, image, error) => {
  expect(() => checkImage('shop/orders:1.4.0', image, wanted)).toThrow(
    expect.objectContaining({ code: 'invalid_release', exitCode: 2, ...error }),
  );
});

it('a platform with failpoints runs harness builds', () => {
  const harness = { service: 'orders', build: 'harness' } as const;
  expect(() => checkImage('shop/orders:dev', imageOf({}), harness)).toThrow(
    expect.objectContaining({ next: expect.stringContaining('--harness'), why: 'this platform has failpoints' }),
  );
});
