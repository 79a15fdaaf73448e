/*
 * Goal: a telemetry outage is observed, and so is its end; the stores keep what they had.
 * Method: a real receiver, and a platform that knows only it.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../../otlp/receiver.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { telemetryOutage } from './telemetry-outage.ts';

let receiver: OtlpReceiver;
let platform: PlatformAccess;
const injection = { id: 'x', target: 'telemetry', parameters: {} };

beforeEach(async () => {
  receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const known: Partial<PlatformAccess> = {
    isLive: true,
    state: () => ({ telemetryUrl: receiver.url }) as PlatformState,
    setTelemetryUnavailable: (isUnavailable) => receiver.setUnavailable(isUnavailable),
  };
  platform = known as PlatformAccess;
});
afterEach(() => receiver.close());

const read = () => fetch(`${receiver.url}/api/v3/services`);

it('is not observed where it was not injected', async () => {
  const undo = await telemetryOutage.prepare(injection, platform);
  expect(await telemetryOutage.witness(injection, undo, platform)).toMatchObject({ verdict: 'not_observed' });
  expect(await telemetryOutage.isInPlace?.(undo, platform)).toBe(false);
});

it('disconnects open and new connections until it is reverted', async () => {
  expect((await read()).status).toBe(200);
  const undo = await telemetryOutage.prepare(injection, platform);
  await telemetryOutage.inject(injection, undo, platform);
  expect(await telemetryOutage.witness(injection, undo, platform)).toMatchObject({ verdict: 'observed' });
  expect(await telemetryOutage.isInPlace?.(undo, platform)).toBe(true);
  await expect(read()).rejects.toThrow();
  await expect(telemetryOutage.verify(undo, platform)).rejects.toThrow('still unavailable');
  await telemetryOutage.undo(undo, platform);
  expect(await telemetryOutage.verify(undo, platform)).toBe('a reader got status 200');
  expect((await read()).status).toBe(200);
});
