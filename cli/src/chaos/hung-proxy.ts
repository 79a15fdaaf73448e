import type { ExtensionContext } from '../platform/supervisor-extension.ts';
import type { Lease } from './lease.ts';
import { createToxiproxyClient, ToxiproxyRequestError } from './toxiproxy-client.ts';

/** The proxy itself has missed one look of the supervisor already; a second, as long, tells a hang from a busy moment. ms. */
const SECOND_LOOK_MS = 1_000;

/**
 * Every edge leads through Toxiproxy, so one that hangs (SIGSTOP, a full disk) hangs the whole shop, and faults on edges
 * would act as something else than they say. It is restarted, its proxies and what faults had added are made anew,
 * unless a fault is what holds it.
 */
export function restartHungProxy(
  { state, act, events }: Pick<ExtensionContext, 'state' | 'act' | 'events'>,
  unfinished: () => readonly Pick<Lease, 'target'>[],
): void {
  events.follow(({ type, subject }) => {
    if (type !== 'instance.unready' || subject !== 'toxiproxy') return;
    if (unfinished().some(({ target }) => target === 'toxiproxy')) return;
    void restart();
  });

  async function restart(): Promise<void> {
    const { toxiproxyUrl } = state();
    if (toxiproxyUrl === undefined || !(await hangs(toxiproxyUrl))) return;
    events.add('instance.hung', 'toxiproxy', 'it does not answer: restarting it');
    // What a failing restart means is told by the instance's own events.
    await act('toxiproxy', 'restart').catch(() => undefined);
  }
}

async function hangs(url: string): Promise<boolean> {
  try {
    await createToxiproxyClient(url, { deadlineMs: SECOND_LOOK_MS }).version();
    return false;
  } catch (error) {
    return error instanceof ToxiproxyRequestError && error.timedOut;
  }
}
