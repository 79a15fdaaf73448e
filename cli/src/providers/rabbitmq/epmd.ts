import { poll } from '../../shared/wait-until.ts';
import { exchange } from '../tcp-exchange.ts';

/** KILL_REQ of the port mapper's protocol. Source: Erlang "Distribution Protocol", EPMD. */
const KILL_REQUEST = Buffer.from([0, 1, 'k'.charCodeAt(0)]);

/** The mapper sees the end of its node a moment after us. */
const DEADLINE_MS = 3_000;
const INTERVAL_MS = 20;

/**
 * Ends the port mapper on a port of ours, which detaches itself and outlives its broker, also one that was killed.
 * Resolves when there is none. Throws when a node is still registered with it.
 */
export async function killEpmd(port: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  const lookForEnd = async (): Promise<true | undefined> => {
    const response = await askToEnd(port);
    if (response === undefined || response === 'OK') return true;
    if (performance.now() > deadline) {
      throw new Error(`epmd on port ${port} refuses to end (${response}): a node is still registered with it`);
    }
    return undefined;
  };
  await poll(lookForEnd, { everyMs: INTERVAL_MS });
}

/** Its response, or undefined when there is no mapper. */
async function askToEnd(port: number): Promise<string | undefined> {
  try {
    return (await exchange({ host: '127.0.0.1', port }, KILL_REQUEST)).toString();
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code === 'ECONNREFUSED') return undefined;
    throw error;
  }
}
