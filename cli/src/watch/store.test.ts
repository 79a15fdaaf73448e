import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { initialModel } from './model/model.ts';
import { createStore } from './store.ts';
import { aState } from './testing/models.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const tick = (nowMs: number) => ({ type: 'tick', nowMs }) as const;

it('shows the responses of one round together, and at most four times a second', () => {
  const store = createStore(initialModel('shop', 0), () => undefined);
  const shown = vi.fn();
  store.subscribe(shown);
  store.dispatch(tick(1_000));
  store.dispatch({ type: 'state', state: aState() });
  expect(shown).not.toHaveBeenCalled();
  vi.advanceTimersByTime(100);
  expect(shown).toHaveBeenCalledTimes(1);
  expect(store.shown()).toMatchObject({ nowMs: 1_000, state: { project: 'shop' } });
  for (let count = 1; count <= 100; count++) {
    store.dispatch(tick(1_000 + count * 10));
    vi.advanceTimersByTime(10);
  }
  expect(shown.mock.calls.length).toBeLessThanOrEqual(5);
});

it('shows immediately what a key changed', () => {
  const store = createStore(initialModel('shop', 0), () => undefined);
  store.dispatch({ type: 'key', key: { character: '?' } });
  expect(store.shown().page).toEqual({ kind: 'help' });
});

it('hands effects on after the model has changed', () => {
  const store = createStore(initialModel('shop', 0), (effect) => {
    expect(effect).toEqual({ type: 'stopLoad' });
    expect(store.shown().notice?.text).toBe('ending the load');
  });
  const load = { perSecond: 1, endsAtMs: 1, sent: 0, confirmed: 0, cancelled: 0, failed: 0 };
  store.dispatch({ type: 'load', load });
  store.dispatch({ type: 'key', key: { character: 'l' } });
  expect.assertions(2);
});
