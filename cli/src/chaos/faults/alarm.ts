import { Type } from 'typebox';
import { alarmsOf, hasBroker, publishCanary, verifyTaken } from '../broker-faults.ts';
import { type AnyFault, defineFault, type Witness } from '../fault.ts';
import { until } from '../poll.ts';
import type { World } from '../world.ts';
import { judged } from './toxic-fault.ts';

interface AlarmOptions {
  readonly name: string;
  readonly title: string;
  /** In the broker's words. */
  readonly alarm: 'disk' | 'memory';
  /** Erlang that tells the limit. */
  readonly read: string;
  /** Erlang that sets the limit. */
  set(limit: string): string;
  /** A limit that is always passed. */
  readonly tooTight: string;
}

interface Limit {
  /** As Erlang writes it. */
  readonly before: string;
}

const ALARM_LIMIT_MS = 3_000;
/** `50000000`, `0.4`, `{absolute,1000000}`: what is evaluated on the broker later is nothing else. */
const LIMIT = /^(\d+(\.\d+)?|\{absolute,\s*(\d+|"\w+")\})$/;

/** One of the broker's resource alarms: while it is on, connections that publish are blocked and consumers go on. */
export function alarmFault({ name, title, alarm, read, set, tooTight }: AlarmOptions): AnyFault {
  return defineFault<ReturnType<typeof Type.Object>, Limit>({
    name,
    kind: 'broker',
    scope: 'broker',
    title,
    parameters: Type.Object({}, { additionalProperties: false }),
    defaults: { parameters: {} },
    // Limits set at run time are not kept by the broker.
    endsWithPlatform: true,
    async prepare(_, world) {
      const before = (await world.askBroker(read)).trim();
      if (!LIMIT.test(before)) throw new Error(`the broker's limit is not understood: ${before}`);
      return { before };
    },
    inject: async (_, __, world) => void (await world.askBroker(set(tooTight))),
    witness: (_, __, world) => witnessAlarm(alarm, world),
    // A broker that was restarted has its usual limit again.
    isInPlace: async (_, world) => (await alarmsOf(world)).includes(alarm),
    async undo({ before }, world) {
      if (hasBroker(world)) await world.askBroker(set(before));
    },
    async verify(_, world) {
      return hasBroker(world) ? verifyTaken(alarm, world) : 'the broker has ended, and its alarm with it';
    },
  });
}

async function witnessAlarm(alarm: string, world: World): Promise<Witness> {
  const isOn = await until('the alarm', ALARM_LIMIT_MS, async () =>
    (await alarmsOf(world)).includes(alarm) ? true : undefined,
  ).catch(() => false); // Only the limit ends the wait.
  const canary = await publishCanary(world, { exchange: '', routingKey: 'shopctl-canary' });
  return judged(
    isOn && canary === 'blocked',
    `the ${alarm} alarm is ${isOn ? 'on' : 'off'}; a connection that publishes is ${canary === 'blocked' ? 'blocked' : 'not blocked'}`,
  );
}
