import { timelineOf } from '../../shop/timeline.ts';
import type { ChoiceValue, Effect, Key, Notice, OrderPage, Picker, Update, WatchModel } from './model.ts';
import { choicesShown, pickClear, pickFault, pickLoad, pickOrder, pickRestart, pickTarget } from './pickers.ts';
import { orderPresets, spans } from './presets.ts';

/** Lines a page key scrolls. */
const PAGE_LINES = 10;

/** What a key does where one is. Pure. */
export function press(model: WatchModel, key: Key): Update {
  switch (model.page.kind) {
    case 'main':
      return onMain(model, key);
    case 'help':
      return only({ ...model, page: { kind: 'main' } });
    case 'picker':
      return inPicker(model, model.page, key);
    case 'order':
      return onOrder(model, model.page, key);
  }
}

function only(model: WatchModel): Update {
  return { model, effects: [] };
}

function doing(model: WatchModel, text: string, effect: Effect): Update {
  return { model: { ...model, notice: { tone: 'doing', text } }, effects: [effect] };
}

function notify(model: WatchModel, text: string, tone: Notice['tone'] = 'plain'): Update {
  return only({ ...model, notice: { tone, text } });
}

function onMain(model: WatchModel, key: Key): Update {
  if (typeof key !== 'string') return command(model, key.character);
  switch (key) {
    case 'up':
      return select(model, -1);
    case 'down':
      return select(model, 1);
    case 'pageUp':
      return select(model, -PAGE_LINES);
    case 'pageDown':
      return select(model, PAGE_LINES);
    case 'home':
      return only({ ...model, selected: undefined });
    case 'enter':
      return openOrder(model);
    case 'escape':
      return only({ ...model, notice: undefined, selected: undefined });
    default:
      return only(model);
  }
}

function command(model: WatchModel, character: string): Update {
  switch (character) {
    case 'q':
      return { model, effects: [{ type: 'quit' }] };
    case '?':
    case 'h':
      return only({ ...model, page: { kind: 'help' } });
    case 'j':
      return select(model, 1);
    case 'k':
      return select(model, -1);
    case 'o':
      return place(model);
    case 'O':
      return only({ ...model, page: pickOrder() });
    case 'l':
      if (model.load !== undefined) return doing(model, 'ending the load', { type: 'stopLoad' });
      return only({ ...model, page: pickLoad() });
    case 'f':
      return open(model, pickFault(model.state), 'no fault can be injected');
    case 'c':
      return open(model, pickClear(model.faults), 'no fault is active');
    case 'r':
      return open(model, pickRestart(model.state), 'nothing runs that could be restarted');
    default:
      return only(model);
  }
}

function open(model: WatchModel, picker: Picker, whenEmpty: string): Update {
  return picker.choices.length === 0 ? notify(model, whenEmpty) : only({ ...model, page: picker });
}

function place(model: WatchModel): Update {
  const [order] = orderPresets;
  return order === undefined ? only(model) : doing(model, 'placing an order', { type: 'place', order });
}

/** Moves the cursor; at the top it stays on whatever order is the newest. */
function select(model: WatchModel, by: number): Update {
  const orders = model.shop?.orders ?? [];
  const at = indexOfSelected(model);
  const to = Math.max(0, Math.min(orders.length - 1, at + by));
  return only({ ...model, selected: to === 0 ? undefined : orders[to]?.id });
}

/** 0 also when the order has left the list. */
export function indexOfSelected({ shop, selected }: WatchModel): number {
  return Math.max(0, shop?.orders.findIndex(({ id }) => id === selected) ?? 0);
}

function openOrder(model: WatchModel): Update {
  const order = model.shop?.orders[indexOfSelected(model)];
  if (order === undefined) return notify(model, 'there is no order yet; o places one');
  const { id } = order;
  const page: OrderPage = { kind: 'order', id, tab: 'trace', scroll: 0, detail: undefined, problem: undefined };
  return { model: { ...model, selected: id, page }, effects: [{ type: 'readOrder', id }] };
}

function onOrder(model: WatchModel, page: OrderPage, key: Key): Update {
  const last = lastScroll(page, model.rows);
  const scrolled = (by: number) =>
    only({ ...model, page: { ...page, scroll: Math.max(0, Math.min(last, page.scroll + by)) } });
  if (typeof key !== 'string') {
    if (key.character === 'q') return only({ ...model, page: { kind: 'main' } });
    if (key.character === 'j') return scrolled(1);
    return key.character === 'k' ? scrolled(-1) : only(model);
  }
  switch (key) {
    case 'up':
      return scrolled(-1);
    case 'down':
      return scrolled(1);
    case 'pageUp':
      return scrolled(-PAGE_LINES);
    case 'pageDown':
      return scrolled(PAGE_LINES);
    case 'home':
      return scrolled(-last);
    case 'end':
      return scrolled(last);
    case 'tab':
      return only({ ...model, page: { ...page, tab: page.tab === 'trace' ? 'timeline' : 'trace', scroll: 0 } });
    case 'escape':
    case 'backspace':
      return only({ ...model, page: { kind: 'main' } });
    default:
      return only(model);
  }
}

/** Lines around the longest list of the page: header, title, sentence, tabs, keys. */
const AROUND_LINES = 9;

/** So that the end is seen; the page itself shows no less than there is. */
function lastScroll({ detail }: OrderPage, rows: number): number {
  if (detail === undefined) return 0;
  const { story, trace } = detail;
  const entries = timelineOf(story, trace?.tree ?? { roots: [], orphans: [] });
  return Math.max(0, entries.length + 1 - (rows - AROUND_LINES));
}

function inPicker(model: WatchModel, picker: Picker, key: Key): Update {
  const to = (change: Partial<Picker>) => only({ ...model, page: { ...picker, ...change } });
  const move = (by: number) => {
    const last = choicesShown(picker).length - 1;
    return to({ index: Math.max(0, Math.min(last, picker.index + by)) });
  };
  const stretch = (by: number) => {
    if (picker.span === undefined) return only(model);
    return to({ span: Math.max(0, Math.min(spans.length - 1, picker.span + by)) });
  };
  if (typeof key !== 'string') return to({ filter: picker.filter + key.character, index: 0 });
  switch (key) {
    case 'up':
      return move(-1);
    case 'down':
      return move(1);
    case 'pageUp':
      return move(-PAGE_LINES);
    case 'pageDown':
      return move(PAGE_LINES);
    case 'home':
      return to({ index: 0 });
    case 'end':
      return move(picker.choices.length);
    case 'left':
      return stretch(-1);
    case 'right':
      return stretch(1);
    case 'backspace':
      return to({ filter: picker.filter.slice(0, -1), index: 0 });
    case 'escape':
      return only({ ...model, page: picker.before ?? { kind: 'main' } });
    case 'enter': {
      const choice = choicesShown(picker)[picker.index];
      return choice === undefined ? only(model) : choose(model, picker, choice.value);
    }
    default:
      return only(model);
  }
}

function choose(model: WatchModel, picker: Picker, value: ChoiceValue): Update {
  const main: WatchModel = { ...model, page: { kind: 'main' } };
  const lastsMs = spans[picker.span ?? 0] ?? 0;
  switch (value.kind) {
    case 'order':
      return doing(main, 'placing an order', { type: 'place', order: value.order });
    case 'load':
      return doing(main, 'starting the load', { type: 'startLoad', perSecond: value.perSecond, forMs: lastsMs });
    case 'fault': {
      const targets = pickTarget(value.preset, model.state, picker);
      return targets.choices.length === 0
        ? notify(main, `${value.preset.label} has no target here: the services are wired without proxies`, 'bad')
        : only({ ...model, page: targets });
    }
    case 'target': {
      const { preset, target } = value;
      return doing(main, `injecting ${preset.label} into ${target}`, {
        type: 'inject',
        preset,
        target,
        ttlMs: lastsMs,
      });
    }
    case 'clear':
      return doing(main, 'reverting', { type: 'clear', ids: value.ids });
    case 'restart':
      return doing(main, `restarting ${value.service}`, { type: 'restart', service: value.service });
  }
}
