import { Type } from 'typebox';
import { CliError, messageOf } from '../../errors.ts';
import { defineFault } from '../fault.ts';
import { toWitness } from './toxic-fault.ts';

interface Outage {
  /** Where telemetry is sent and read. */
  readonly url: string;
}

const ASK_LIMIT_MS = 2_000;

/** Spans, metrics and logs are neither accepted nor readable: the shop must not be affected. */
export const telemetryOutage = defineFault<ReturnType<typeof Type.Object>, Outage>({
  name: 'telemetry-outage',
  kind: 'telemetry',
  scope: 'telemetry',
  title: 'senders and readers of telemetry are disconnected; data sent meanwhile is lost',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { excluded: 'a round is evaluated by telemetry; E37 is about it' },
  endsWithPlatform: true,
  async prepare(_, platform) {
    const url = platform.state()?.telemetryUrl;
    if (url) return { url };
    throw new CliError({
      code: 'component_not_running',
      what: 'no telemetry receiver is running',
      next: 'start the platform with "shopctl up"',
    });
  },
  async inject(_, __, platform) {
    platform.setTelemetryUnavailable(true);
  },
  async witness(_, { url }) {
    const result = await ask(url);
    return toWitness(
      'problem' in result,
      'problem' in result ? `a reader was disconnected: ${result.problem}` : result.text,
    );
  },
  isInPlace: async ({ url }) => 'problem' in (await ask(url)),
  async undo(_, platform) {
    platform.setTelemetryUnavailable(false);
  },
  async verify({ url }, platform) {
    const result = await ask(url);
    if ('text' in result) return result.text;
    if (!platform.isLive) return 'the receiver has ended with its supervisor';
    throw new Error(`telemetry at ${url} is still unavailable: ${result.problem}`);
  },
});

async function ask(url: string): Promise<{ text: string } | { problem: string }> {
  try {
    const response = await fetch(`${url}/api/stats`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    await response.arrayBuffer();
    return { text: `a reader got status ${response.status}` };
  } catch (error) {
    return { problem: messageOf((error as Error).cause ?? error) };
  }
}
