import { exchange } from '../tcp-exchange.ts';

/** KILL_REQ of the port mapper's protocol. Source: Erlang "Distribution Protocol", EPMD. */
const KILL_REQUEST = Buffer.from([0, 1, 'k'.charCodeAt(0)]);

/**
 * Ends the port mapper on a port of ours, which detaches itself and outlives its broker, also one that was killed. It
 * refuses while a node is registered. Resolves when there is none.
 */
export async function killEpmd(port: number): Promise<void> {
  const answer = await exchange({ host: '127.0.0.1', port }, KILL_REQUEST).catch((error: Error) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED') return undefined;
    throw error;
  });
  if (answer !== undefined && answer.toString() !== 'OK') {
    throw new Error(`epmd on port ${port} refuses to end (${answer.toString()}): a node is still registered with it`);
  }
}
