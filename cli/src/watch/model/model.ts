import type { Lease } from '../../chaos/lease.ts';
import type { Sample } from '../../counters/report.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { OpenSagas } from '../../shop/open-sagas.ts';
import type { OrderEvidence } from '../../shop/order-evidence.ts';
import type { OrderTrace } from '../../shop/order-trace.ts';
import type { OrderRow } from '../../shop/orders-table.ts';
import type { Figures } from './figures.ts';
import type { HistorySample } from './history.ts';
import type { FaultPreset, OrderPreset } from './presets.ts';

/** Where the figures come from. Each is asked separately, so that one that does not respond delays no other. */
export type Source = 'platform' | 'telemetry' | 'databases' | 'faults' | 'pages';

/** What the databases hold at one time. */
export interface ShopSample {
  /** Newest first. */
  readonly orders: readonly OrderRow[];
  readonly open: OpenSagas;
  /** Events not published yet. */
  readonly pending: number;
}

export interface LoadProgress {
  readonly perSecond: number;
  /** ms since 1970. */
  readonly endsAtMs: number;
  readonly sent: number;
  readonly confirmed: number;
  readonly cancelled: number;
  /** Problems, missing responses, and orders that were not sent because too many were in flight. */
  readonly failed: number;
}

/** The result of the last key, until the next one. */
export interface Notice {
  readonly tone: 'doing' | 'good' | 'bad' | 'plain';
  readonly text: string;
}

/** One line one can choose. */
export interface Choice {
  readonly label: string;
  /** Words it is found by beside those of its label. */
  readonly keywords?: readonly string[];
  readonly detail: string;
  readonly value: ChoiceValue;
}

export type ChoiceValue =
  | { readonly kind: 'order'; readonly order: OrderPreset }
  | { readonly kind: 'load'; readonly perSecond: number }
  | { readonly kind: 'fault'; readonly preset: FaultPreset }
  | { readonly kind: 'target'; readonly preset: FaultPreset; readonly target: string }
  /** All of them without ids. */
  | { readonly kind: 'clear'; readonly ids: readonly string[] | undefined }
  | { readonly kind: 'restart'; readonly service: string };

/** A list to choose from. */
export interface Picker {
  readonly kind: 'picker';
  readonly title: string;
  readonly choices: readonly Choice[];
  /** Typed letters: only choices that contain them are shown. */
  readonly filter: string;
  /** Among those shown. */
  readonly index: number;
  /** Index of `spans`: how long what is chosen lasts. Undefined where it does not last. */
  readonly span: number | undefined;
  /** What Escape goes back to. */
  readonly before: Picker | undefined;
}

/** Everything about one order. */
export interface OrderDetail {
  readonly story: OrderEvidence;
  readonly trace: OrderTrace | null;
}

export interface OrderPage {
  readonly kind: 'order';
  readonly id: string;
  readonly tab: 'trace' | 'timeline';
  /** Lines scrolled past the top. */
  readonly scroll: number;
  /** Undefined until it has been read. */
  readonly detail: OrderDetail | undefined;
  readonly problem: string | undefined;
}

export type Page = { readonly kind: 'main' } | { readonly kind: 'help' } | Picker | OrderPage;

/** All that the screen shows. Changed by `update` only. */
export interface WatchModel {
  readonly project: string;
  readonly nowMs: number;
  readonly state: PlatformState | undefined;
  /** The metrics of the last seconds, oldest first. */
  readonly samples: readonly Sample[];
  readonly figures: Figures | undefined;
  readonly shop: ShopSample | undefined;
  /** Not ended yet. */
  readonly faults: readonly Lease[];
  /** Pages that fire without acknowledgement. */
  readonly pages: number;
  readonly events: readonly PlatformEvent[];
  readonly history: readonly HistorySample[];
  /** Why a source does not respond. */
  readonly problems: Readonly<Partial<Record<Source, string>>>;
  readonly load: LoadProgress | undefined;
  readonly page: Page;
  /** The order under the cursor, by id: the list moves under it. Undefined: the newest. */
  readonly selected: string | undefined;
  readonly notice: Notice | undefined;
  /** Lines of the screen: how far a page can be scrolled. */
  readonly rows: number;
}

export type Key =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'pageUp'
  | 'pageDown'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'tab'
  | 'backspace'
  | { readonly character: string };

export type Message =
  /** About once a second. */
  | { readonly type: 'tick'; readonly nowMs: number }
  | { readonly type: 'state'; readonly state: PlatformState }
  | { readonly type: 'metrics'; readonly sample: Sample }
  | { readonly type: 'shop'; readonly shop: ShopSample }
  | { readonly type: 'faults'; readonly leases: readonly Lease[] }
  | { readonly type: 'pages'; readonly pages: number }
  | { readonly type: 'event'; readonly event: PlatformEvent }
  | { readonly type: 'failed'; readonly source: Source; readonly why: string }
  | { readonly type: 'load'; readonly load: LoadProgress | undefined }
  | { readonly type: 'order'; readonly id: string; readonly detail: OrderDetail }
  | { readonly type: 'orderFailed'; readonly id: string; readonly why: string }
  | { readonly type: 'notice'; readonly notice: Notice }
  | { readonly type: 'resized'; readonly rows: number }
  | { readonly type: 'key'; readonly key: Key };

/** What a message asks the world for. */
export type Effect =
  | { readonly type: 'place'; readonly order: OrderPreset }
  | { readonly type: 'startLoad'; readonly perSecond: number; readonly forMs: number }
  | { readonly type: 'stopLoad' }
  | { readonly type: 'inject'; readonly preset: FaultPreset; readonly target: string; readonly ttlMs: number }
  | { readonly type: 'clear'; readonly ids: readonly string[] | undefined }
  | { readonly type: 'restart'; readonly service: string }
  | { readonly type: 'readOrder'; readonly id: string }
  | { readonly type: 'quit' };

export interface Update {
  readonly model: WatchModel;
  readonly effects: readonly Effect[];
}

export function initialModel(project: string, nowMs: number): WatchModel {
  return {
    project,
    nowMs,
    state: undefined,
    samples: [],
    figures: undefined,
    shop: undefined,
    faults: [],
    pages: 0,
    events: [],
    history: [],
    problems: {},
    load: undefined,
    page: { kind: 'main' },
    selected: undefined,
    notice: undefined,
    rows: 24,
  };
}
