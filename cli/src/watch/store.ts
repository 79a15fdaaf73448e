import type { Effect, Message, WatchModel } from './model/model.ts';
import { update } from './model/update.ts';

/** The one place where the model changes, and its listeners. */
export interface Store {
  dispatch(message: Message): void;
  /** As it was when listeners were last called. */
  shown(): WatchModel;
  subscribe(listener: () => void): () => void;
}

/** Data is shown at most so often, ms; what a key changes is shown immediately. */
const SHOW_EVERY_MS = 250;
/** Responses of one round come within a few ms of each other: they are shown together. */
const GATHER_MS = 80;

/** `perform` is called with each effect, after the model has changed. */
export function createStore(initial: WatchModel, perform: (effect: Effect) => void): Store {
  let model = initial;
  let shown = initial;
  let shownAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const listeners = new Set<() => void>();

  function show(): void {
    clearTimeout(timer);
    timer = undefined;
    if (shown === model) return;
    shown = model;
    shownAt = performance.now();
    for (const listener of listeners) listener();
  }

  return {
    dispatch(message) {
      const next = update(model, message);
      model = next.model;
      if (message.type === 'key') show();
      else timer ??= setTimeout(show, Math.max(GATHER_MS, shownAt + SHOW_EVERY_MS - performance.now()));
      for (const effect of next.effects) perform(effect);
    },
    shown: () => shown,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
