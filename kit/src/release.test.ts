import { Type } from 'typebox';
import { afterEach, expect, it } from 'vitest';
import { commonVariables, parseEnvironment } from './config.ts';
import { ownRelease } from './release.ts';
import { describeProcess } from './telemetry/sdk.ts';
import { announceVersion } from './telemetry/service-version.ts';

const attributes = process.env.OTEL_RESOURCE_ATTRIBUTES;
afterEach(() => {
  if (attributes === undefined) delete process.env.OTEL_RESOURCE_ATTRIBUTES;
  else process.env.OTEL_RESOURCE_ATTRIBUTES = attributes;
});

it('a service that runs from its sources says so, and is stable by default', () => {
  expect(ownRelease({})).toEqual({ version: '0.0.0-source', track: 'stable' });
  expect(ownRelease({ SHOP_TRACK: 'canary' })).toMatchObject({ track: 'canary' });
  expect(ownRelease({ SHOP_VERSION: '1.2.3+bug.no-inbox' })).toMatchObject({ version: '1.2.3+bug.no-inbox' });
});

it('an unknown track is a configuration error', () => {
  const read = (SHOP_TRACK: string) => parseEnvironment(Type.Object(commonVariables), { PORT: '4001', SHOP_TRACK });
  expect(read('green').SHOP_TRACK).toBe('green');
  expect(() => read('beta')).toThrow(/SHOP_TRACK .*"beta"/);
});

it('telemetry carries the version that the service announced, and its track; the environment has the last word', async () => {
  const resource = describeProcess({ SHOP_TRACK: 'blue' });
  expect(resource.asyncAttributesPending).toBe(true);
  announceVersion('1.2.3');
  await resource.waitForAsyncAttributes?.();
  expect(resource.attributes).toMatchObject({ 'service.version': '1.2.3', 'shop.track': 'blue' });
  process.env.OTEL_RESOURCE_ATTRIBUTES = 'service.version=4.5.6';
  const given = describeProcess({});
  await given.waitForAsyncAttributes?.();
  expect(given.attributes).toMatchObject({ 'service.version': '4.5.6', 'shop.track': 'stable' });
});
