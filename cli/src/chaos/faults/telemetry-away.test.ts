/*
 * Goal: telemetry that is away is seen to be so, and seen to be back; the stores keep what they had.
 * Method: a real receiver, and a world that knows only it.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../../otlp/receiver.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { World } from '../world.ts';
import { telemetryAway } from './telemetry-away.ts';

let receiver: OtlpReceiver;
let world: World;
const injection = { id: 'x', target: 'telemetry', parameters: {} };

beforeEach(async () => {
  receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const known: Partial<World> = {
    isLive: true,
    state: () => ({ telemetryUrl: receiver.url }) as PlatformState,
    setTelemetryAway: (isAway) => receiver.setAway(isAway),
  };
  world = known as World;
});
afterEach(() => receiver.close());

const read = () => fetch(`${receiver.url}/api/v3/services`);

it('is not seen where it was not injected', async () => {
  const undo = await telemetryAway.prepare(injection, world);
  expect(await telemetryAway.witness(injection, undo, world)).toMatchObject({ verdict: 'absent' });
  expect(await telemetryAway.isInPlace?.(undo, world)).toBe(false);
});

it('cuts off who is connected and who comes, until it is taken back', async () => {
  expect((await read()).status).toBe(200);
  const undo = await telemetryAway.prepare(injection, world);
  await telemetryAway.inject(injection, undo, world);
  expect(await telemetryAway.witness(injection, undo, world)).toMatchObject({ verdict: 'seen' });
  expect(await telemetryAway.isInPlace?.(undo, world)).toBe(true);
  await expect(read()).rejects.toThrow();
  await expect(telemetryAway.verify(undo, world)).rejects.toThrow('still away');
  await telemetryAway.undo(undo, world);
  expect(await telemetryAway.verify(undo, world)).toBe('a reader was answered 200');
  expect((await read()).status).toBe(200);
});
