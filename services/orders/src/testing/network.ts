import { DatabaseUnavailableError, TransientError } from '@shop/kit/failures.ts';
import type { FaultPlan, MessageFault, Outage } from './faults.ts';
import type { Journal } from './journal.ts';
import type { SimulatedProcess } from './process.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Message<T> {
  readonly from: SimulatedProcess;
  readonly at: Parameters<FaultPlan['next']>[0];
  /** For the journal: whose order. */
  readonly about: string;
  readonly to: Outage['of'] | 'catalog';
  /** Takes effect at the receiver; may be called twice, or after the sender has given up. */
  handle(how: { halfDone: boolean }): T;
}

/** Carries messages between processes, as the history's faults let it. */
export interface Network {
  /** Resolves with the receiver's response. Rejects with TransientError when refused; never settles when it is lost. */
  send<T>(message: Message<T>): Promise<T>;
  /** Messages that are still to arrive. */
  readonly inFlight: number;
}

export function createNetwork(options: {
  time: VirtualTime;
  plan: FaultPlan;
  outages: readonly Outage[];
  journal: Journal;
}): Network {
  const { time, plan, outages, journal } = options;
  let inFlight = 0;

  function later(ms: number, work: () => void): void {
    inFlight += 1;
    time.after(ms, () => {
      inFlight -= 1;
      work();
    });
  }

  function faultOf({ at, to }: Message<unknown>): MessageFault | undefined {
    const planned = plan.next<MessageFault>(at);
    const now = time.now();
    const outage = outages.find(({ of, fromMs, forMs }) => of === to && fromMs <= now && now < fromMs + forMs);
    return outage === undefined ? planned : { kind: outage.how };
  }

  function deliver<T>(message: Message<T>, fault: MessageFault | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const handle = (halfDone = false) => {
        try {
          return { response: message.handle({ halfDone }) };
        } catch (error) {
          return { error };
        }
      };
      const respond = (result: { response: T } | { error: unknown }) =>
        'response' in result ? resolve(result.response) : reject(result.error);
      if (fault === undefined) return respond(handle());
      journal.note('network', `${message.at} ${message.about}: ${describe(fault)}`);
      switch (fault.kind) {
        case 'refuse':
          return reject(new RefusedError(`${message.to} refused the connection`));
        case 'lose request':
          return undefined;
        case 'lose reply':
          return void handle();
        case 'half done':
          return void handle(true);
        case 'delay request':
          return later(fault.ms, () => respond(handle()));
        case 'delay reply': {
          const result = handle();
          return later(fault.ms, () => respond(result));
        }
        case 'duplicate':
          later(fault.ms, () => handle());
          return respond(handle());
      }
    });
  }

  return {
    get inFlight() {
      return inFlight;
    },
    async send(message) {
      const { from } = message;
      if (!from.alive || from.paused) await from.gate();
      try {
        return await deliver(message, faultOf(message));
      } finally {
        if (!from.alive || from.paused) await from.gate();
      }
    },
  };
}

/** Nothing was sent. */
class RefusedError extends TransientError {
  override readonly name = 'RefusedError';
}

/** The response, or DatabaseUnavailableError where none came within `limitMs`; `sent` says whether it may have taken effect. */
export async function asDatabaseResponse<T>(response: Promise<T>, limitMs: number): Promise<T> {
  try {
    return await inTime(response, limitMs);
  } catch (error) {
    throw error instanceof RefusedError ? new DatabaseUnavailableError(error.message) : error;
  }
}

/** Turns of the microtask queue within which an undisturbed response comes; a timer for each would cost most of a run. */
const UNDISTURBED_TURNS = 8;

async function inTime<T>(response: Promise<T>, limitMs: number): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  response.then(settle, settle);
  for (let turn = 0; turn < UNDISTURBED_TURNS && !settled; turn += 1) await undefined;
  if (settled) return response;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new DatabaseUnavailableError(`no response in ${limitMs} ms`, { sent: true })),
    limitMs,
  );
  return Promise.race([response, late.promise]).finally(() => clearTimeout(timer));
}

function describe(fault: MessageFault): string {
  return 'ms' in fault ? `${fault.kind} by ${fault.ms} ms` : fault.kind;
}
