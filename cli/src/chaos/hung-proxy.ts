import type { ExtensionContext } from '../platform/supervisor-extension.ts';
import type { Lease } from './lease.ts';
import { createToxiproxyClient, ToxiproxyRequestError } from './toxiproxy-client.ts';

/**
 * The proxy has failed one probe of the supervisor already; a second one distinguishes a hang from a short delay. ms.
 */
const SECOND_LOOK_MS = 1_000;

/**
 * Every edge leads through Toxiproxy, so one that hangs (SIGSTOP, a full disk) hangs the whole shop, and faults on edges
 * would act as other faults. It is restarted, and its proxies and toxics are recreated, unless a fault is active on it.
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
    events.add('instance.hung', 'toxiproxy', 'not responding: restarting it');
    // The instance's own events report a failed restart.
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
