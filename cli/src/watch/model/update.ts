import type { Lease } from '../../chaos/lease.ts';
import type { Sample } from '../../counters/report.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import { edgePortsOf, figuresOf } from './figures.ts';
import { addSample, type HistorySample } from './history.ts';
import { press } from './keys.ts';
import type { Message, OrderPage, Source, Update, WatchModel } from './model.ts';

/** Rates and durations are those of so much time, ms. */
const WINDOW_MS = 5_000;
const KEPT_EVENTS = 50;

/** The next model, and what has to be done for it. Pure: all time comes with the messages. */
export function update(model: WatchModel, message: Message): Update {
  if (message.type === 'key') return press(model, message.key);
  const next = take(model, message);
  return { model: next, effects: message.type === 'tick' ? reread(next) : [] };
}

function take(model: WatchModel, message: Exclude<Message, { type: 'key' }>): WatchModel {
  switch (message.type) {
    case 'tick':
      return tick(model, message.nowMs);
    case 'state':
      return { ...markReachable(model, 'platform'), state: message.state };
    case 'metrics':
      return takeMetrics(model, message.sample);
    case 'shop':
      return { ...markReachable(model, 'databases'), shop: message.shop };
    case 'faults':
      return {
        ...markReachable(model, 'faults'),
        faults: message.leases.filter(({ status }) => status !== 'reverted'),
      };
    case 'pages':
      return { ...markReachable(model, 'pages'), pages: message.pages };
    case 'event':
      return takeEvent(model, message.event);
    case 'failed':
      return { ...model, problems: { ...model.problems, [message.source]: message.why } };
    case 'load':
      return { ...model, load: message.load };
    case 'order':
      return onPage(model, message.id, (page) => ({ ...page, detail: message.detail, problem: undefined }));
    case 'orderFailed':
      return onPage(model, message.id, (page) => ({ ...page, problem: message.why }));
    case 'resized':
      return { ...model, rows: message.rows };
    case 'notice':
      return { ...model, notice: message.notice };
  }
}

/** A new follower gets the recent ones again; another supervisor counts from 1, later. */
function takeEvent(model: WatchModel, event: PlatformEvent): WatchModel {
  const last = model.events.at(-1);
  if (last !== undefined && event.seq <= last.seq && event.time <= last.time) return model;
  return { ...model, events: [...model.events.slice(-KEPT_EVENTS + 1), event] };
}

/** The same object while nothing is wrong, so that its views need not be drawn again. */
function markReachable(model: WatchModel, source: Source): WatchModel {
  if (model.problems[source] === undefined) return model;
  const { [source]: _, ...problems } = model.problems;
  return { ...model, problems };
}

function onPage(model: WatchModel, id: string, change: (page: OrderPage) => OrderPage): WatchModel {
  const { page } = model;
  return page.kind === 'order' && page.id === id ? { ...model, page: change(page) } : model;
}

/** A second later: the chart goes on by what is known now. */
function tick(model: WatchModel, nowMs: number): WatchModel {
  const sample: HistorySample = { timeMs: nowMs, pending: pendingOf(model), faults: model.faults.map(bandOf) };
  return { ...model, nowMs, history: addSample(model.history, sample) };
}

/** As orders reports it; what the table holds while no instance of orders runs. */
function pendingOf({ figures, shop, problems }: WatchModel): number | undefined {
  const reported = problems.telemetry === undefined ? figures?.pending : undefined;
  return reported ?? (problems.databases === undefined ? shop?.pending : undefined);
}

function bandOf({ id, target, fault }: Lease) {
  return { id, label: `${target} ${fault}` };
}

function takeMetrics(model: WatchModel, sample: Sample): WatchModel {
  const samples = [...model.samples.filter(({ time }) => sample.time - time <= WINDOW_MS), sample];
  const ports = edgePortsOf(model.state ?? { edges: [], instances: [] });
  return { ...markReachable(model, 'telemetry'), samples, figures: figuresOf(samples, ports) };
}

/** An order that is not at its end is read again while it is looked at. */
function reread({ page }: WatchModel): Update['effects'] {
  if (page.kind !== 'order' || isOver(page)) return [];
  return [{ type: 'readOrder', id: page.id }];
}

function isOver({ detail, problem }: OrderPage): boolean {
  if (detail === undefined) return problem !== undefined;
  const { order, outbox, shipment } = detail.story;
  const isShipped = order.status !== 'Confirmed' || shipment !== null;
  return !order.open && isShipped && outbox.every(({ publishedAt }) => publishedAt !== null) && isTraced(detail);
}

/** The trace's last spans are exported up to a second after the order's end. */
function isTraced({ story: { order }, trace }: NonNullable<OrderPage['detail']>): boolean {
  return trace !== null && trace.note === null && order.readAt.getTime() - order.updatedAt.getTime() > 3_000;
}
