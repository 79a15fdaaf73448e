import { Type } from 'typebox';
import { waitUntil } from '../../shared/wait-until.ts';
import { alarmsOf, hasBroker, publishCanary, verifyTaken } from '../broker-faults.ts';
import { type AnyFault, defineFault, type Witness } from '../fault.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { toWitness } from './toxic-fault.ts';

interface AlarmOptions {
  readonly name: string;
  readonly title: string;
  /** The broker's name of it. */
  readonly alarm: 'disk' | 'memory';
  /** Erlang that reads the limit. */
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
/** `50000000`, `0.4`, `{absolute,1000000}`: nothing else is evaluated on the broker later. */
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
    async prepare(_, platform) {
      const before = (await platform.askBroker(read)).trim();
      if (!LIMIT.test(before)) throw new Error(`the broker's limit has an unknown form: ${before}`);
      return { before };
    },
    inject: async (_, __, platform) => void (await platform.askBroker(set(tooTight))),
    witness: (_, __, platform) => witnessAlarm(alarm, platform),
    // A broker that was restarted has its usual limit again.
    isInPlace: async (_, platform) => (await alarmsOf(platform)).includes(alarm),
    async undo({ before }, platform) {
      if (hasBroker(platform)) await platform.askBroker(set(before));
    },
    async verify(_, platform) {
      return hasBroker(platform) ? verifyTaken(alarm, platform) : 'the broker has ended, and its alarm with it';
    },
  });
}

async function witnessAlarm(alarm: string, platform: PlatformAccess): Promise<Witness> {
  const isOn = await waitUntil('the alarm', ALARM_LIMIT_MS, async () =>
    (await alarmsOf(platform)).includes(alarm) ? true : undefined,
  ).catch(() => false); // Only the limit ends the wait.
  const canary = await publishCanary(platform, { exchange: '', routingKey: 'shopctl-canary' });
  return toWitness(
    isOn && canary === 'blocked',
    `the ${alarm} alarm is ${isOn ? 'on' : 'off'}; a connection that publishes is ${canary === 'blocked' ? 'blocked' : 'not blocked'}`,
  );
}
