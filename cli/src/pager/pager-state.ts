import type { Alert } from './alert.ts';
import type { Acknowledgement, DeliveryAction, PagerEvent } from './page-event.ts';
import type { Silence } from './silence.ts';

/** One alert with what the pager did about it. */
export interface KnownAlert {
  readonly alert: Alert;
  readonly notifiedAtMs?: number;
  readonly escalatedAtMs?: number;
  readonly acknowledged?: Acknowledgement;
}

/** A message that has not reached the webhook yet. */
export interface Delivery {
  /** The event that it is about. */
  readonly of: number;
  readonly action: DeliveryAction;
  readonly fingerprint: string;
  readonly alert: Alert;
  readonly isEscalation: boolean;
  readonly note?: string;
}

/** Everything that a pager knows: what its events have made of an empty one. */
export interface PagerState {
  /** Of the last event that is in it. */
  sequence: number;
  /** Those that fire, by fingerprint. */
  readonly alerts: Map<string, KnownAlert>;
  /** By id. */
  readonly silences: Map<string, Silence>;
  deliveries: readonly Delivery[];
  isPipelineLost: boolean;
}

export function emptyState(): PagerState {
  return { sequence: 0, alerts: new Map(), silences: new Map(), deliveries: [], isPipelineLost: false };
}

/** The most that waits for a webhook that does not respond; the oldest is given up for a newer one. */
export const MOST_DELIVERIES = 100;

/** Changes the state by an event. It is changed in place: with thousands of alerts, a copy for each would take seconds. */
export function applyEvent(state: PagerState, event: PagerEvent): void {
  state.sequence = event.sequence;
  switch (event.type) {
    case 'fired':
      state.alerts.set(event.fingerprint, { alert: event.alert });
      break;
    case 'notified':
      change(state, event, { notifiedAtMs: Date.parse(event.time) });
      break;
    case 'escalated':
      change(state, event, { escalatedAtMs: Date.parse(event.time) });
      break;
    case 'acknowledged': {
      const { by, note, time } = event;
      change(state, event, { acknowledged: { by, time, ...(note !== undefined && { note }) } });
      break;
    }
    case 'resolved':
      enqueue(state, event);
      state.alerts.delete(event.fingerprint);
      break;
    case 'silence':
      state.silences.set(event.silence.id, event.silence);
      break;
    case 'delivered':
    case 'undelivered':
      state.deliveries = state.deliveries.filter(({ of }) => of !== event.of);
      break;
    case 'pipeline':
      state.isPipelineLost = event.status === 'lost';
  }
}

type Deliverable = Extract<PagerEvent, { delivery?: DeliveryAction }>;

function change(state: PagerState, event: Deliverable, more: Partial<KnownAlert>): void {
  const known = state.alerts.get(event.fingerprint);
  if (known === undefined) return;
  enqueue(state, event);
  state.alerts.set(event.fingerprint, { ...known, ...more });
}

function enqueue(state: PagerState, event: Deliverable): void {
  const { delivery: action, fingerprint, sequence: of } = event;
  const alert = state.alerts.get(fingerprint)?.alert;
  if (action === undefined || alert === undefined) return;
  const note = event.type === 'acknowledged' ? event.note : undefined;
  const delivery = { of, action, fingerprint, alert, isEscalation: event.type === 'escalated' };
  state.deliveries = [...state.deliveries, { ...delivery, ...(note !== undefined && { note }) }];
}

/** As JSON. */
export function writeState({ alerts, silences, ...others }: PagerState): string {
  return JSON.stringify({ ...others, alerts: [...alerts.values()], silences: [...silences.values()] });
}

/** Throws Error for a text that is not the state of a pager. */
export function readState(text: string): PagerState {
  const { sequence, alerts, silences, deliveries, isPipelineLost } = JSON.parse(text) as {
    [key in keyof PagerState]?: unknown;
  };
  if (!Number.isInteger(sequence) || ![alerts, silences, deliveries].every(Array.isArray))
    throw new Error('it holds no state of a pager');
  return {
    sequence: sequence as number,
    alerts: new Map((alerts as KnownAlert[]).map((known) => [known.alert.fingerprint, known])),
    silences: new Map((silences as Silence[]).map((silence) => [silence.id, silence])),
    deliveries: deliveries as Delivery[],
    isPipelineLost: isPipelineLost === true,
  };
}
