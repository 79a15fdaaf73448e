import { Type } from 'typebox';
import { CliError, messageOf } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { defineFault } from '../fault.ts';
import { judged } from './toxic-fault.ts';

interface Away {
  /** Where telemetry is sent and read. */
  readonly url: string;
}

const ASK_LIMIT_MS = 2_000;

/** Nobody takes spans, metrics and logs, and nobody can read them: the shop must not notice. */
export const telemetryAway = defineFault<ReturnType<typeof Type.Object>, Away>({
  name: 'telemetry-away',
  kind: 'telemetry',
  scope: 'telemetry',
  title: 'whoever sends or reads telemetry is disconnected at once; what is sent meanwhile is lost',
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { excluded: 'a round is judged by telemetry; E37 is about it' },
  endsWithPlatform: true,
  async prepare(_, world) {
    const url = world.state()?.telemetryUrl;
    if (url) return { url };
    throw new CliError({
      what: 'there is no telemetry that could be away',
      next: 'start the platform with "shopctl up"',
      exitCode: exitCodes.notRunning,
    });
  },
  async inject(_, __, world) {
    world.setTelemetryAway(true);
  },
  async witness(_, { url }) {
    const answer = await ask(url);
    return judged('problem' in answer, 'problem' in answer ? `a reader was cut off: ${answer.problem}` : answer.text);
  },
  isInPlace: async ({ url }) => 'problem' in (await ask(url)),
  async undo(_, world) {
    world.setTelemetryAway(false);
  },
  async verify({ url }, world) {
    const answer = await ask(url);
    if ('text' in answer) return answer.text;
    if (!world.isLive) return 'the receiver has ended with its supervisor';
    throw new Error(`telemetry at ${url} is still away: ${answer.problem}`);
  },
});

async function ask(url: string): Promise<{ text: string } | { problem: string }> {
  try {
    const response = await fetch(`${url}/api/stats`, { signal: AbortSignal.timeout(ASK_LIMIT_MS) });
    await response.arrayBuffer();
    return { text: `a reader was answered ${response.status}` };
  } catch (error) {
    return { problem: messageOf((error as Error).cause ?? error) };
  }
}
