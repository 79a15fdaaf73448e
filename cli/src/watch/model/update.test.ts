import { describe, expect, it } from 'vitest';
import { faults, findFault, targetsOf } from '../../chaos/catalog.ts';
import { checkParameters } from '../../chaos/parameters.ts';
import { someEvidence } from '../../shop/testing/stories.ts';
import { aLease, aModel, aState, NOW_MS } from '../testing/models.ts';
import type { Effect, Key, WatchModel } from './model.ts';
import { choicesShown, faultPresets, pickFault, pickTarget } from './pickers.ts';
import type { FaultPreset } from './presets.ts';
import { update } from './update.ts';

/** The model after these keys, and everything they asked for. Text is typed character by character. */
function press(model: WatchModel, ...keys: (Exclude<Key, object> | { readonly type: string })[]) {
  const effects: Effect[] = [];
  let now = model;
  const all = keys.flatMap((key): Key[] =>
    typeof key === 'string' ? [key] : [...key.type].map((character) => ({ character })),
  );
  for (const key of all) {
    const next = update(now, { type: 'key', key });
    now = next.model;
    effects.push(...next.effects);
  }
  return { model: now, effects };
}

const type = (text: string) => ({ type: text });

describe('keys', () => {
  it('o places an order and says so immediately', () => {
    const { model, effects } = press(aModel(), type('o'));
    expect(effects).toMatchObject([{ type: 'place', order: { productId: 1, quantity: 1 } }]);
    expect(model.notice).toEqual({ tone: 'doing', text: 'placing an order' });
  });

  it('O chooses another order', () => {
    const { effects } = press(aModel(), type('O'), type('declined'), 'enter');
    expect(effects).toMatchObject([{ type: 'place', order: { productId: 12 } }]);
  });

  it('f injects what was found by typing, where it was aimed, for as long as was chosen', () => {
    const { model, effects } = press(aModel(), type('f'), type('down'), 'enter', type('orders-br'), 'right', 'enter');
    expect(effects).toMatchObject([
      { type: 'inject', target: 'orders-broker', ttlMs: 120_000, preset: { fault: 'down', parameters: {} } },
    ]);
    expect(model.page).toEqual({ kind: 'main' });
  });

  it('Escape goes back from the target to the fault, and from there to the overview', () => {
    const { model } = press(aModel(), type('f'), 'enter', 'escape');
    expect(model.page).toMatchObject({ kind: 'picker', title: 'Inject a fault: which' });
    expect(press(model, 'escape').model.page).toEqual({ kind: 'main' });
  });

  it('Enter does nothing while no choice contains what was typed', () => {
    const { model, effects } = press(aModel(), type('f'), type('no such fault'), 'enter');
    expect(effects).toEqual([]);
    expect(press(model, ...Array.from({ length: 13 }, () => 'backspace' as const), 'enter').model.page).toMatchObject({
      title: 'Inject latency 200ms: where',
    });
  });

  it('l starts a load, and ends the one there is', () => {
    const { effects } = press(aModel({ load: undefined }), type('l'), type('5 o'), 'enter');
    expect(effects).toEqual([{ type: 'startLoad', perSecond: 5, forMs: 60_000 }]);
    expect(press(aModel(), type('l')).effects).toEqual([{ type: 'stopLoad' }]);
  });

  it('c reverts the fault that was chosen, or all of them', () => {
    expect(press(aModel(), type('c'), 'enter').effects).toEqual([{ type: 'clear', ids: ['a1b2c3'] }]);
    const two = aModel({ faults: [aLease(), aLease({ id: 'b2', target: 'orders-db' })] });
    expect(press(two, type('c'), 'end', 'enter').effects).toEqual([{ type: 'clear', ids: undefined }]);
  });

  it('c says so when there is none', () => {
    const { model } = press(aModel({ faults: [] }), type('c'));
    expect(model).toMatchObject({ page: { kind: 'main' }, notice: { text: 'no fault is active' } });
  });

  it('r restarts a service', () => {
    expect(press(aModel(), type('r'), type('ship'), 'enter').effects).toEqual([
      { type: 'restart', service: 'shipping' },
    ]);
  });

  it('q quits', () => {
    expect(press(aModel(), type('q')).effects).toEqual([{ type: 'quit' }]);
  });

  it('the cursor stays on its order while newer ones come, and at the top on the newest', () => {
    const { model } = press(aModel(), 'down');
    const chosen = model.shop?.orders[1]?.id;
    expect(model.selected).toBe(chosen);
    expect(press(model, 'up').model.selected).toBeUndefined();
  });
});

describe('events', () => {
  const event = (seq: number, second: number) => {
    const time = new Date(NOW_MS + second * 1_000).toISOString();
    return {
      type: 'event',
      event: { seq, time, type: 'instance.ready', subject: 'orders-1', message: 'ready' },
    } as const;
  };
  const seqsAfter = (...messages: ReturnType<typeof event>[]) =>
    messages.reduce((model, message) => update(model, message).model, aModel()).events.map(({ seq }) => seq);

  it('that were shown before are not shown again', () => {
    expect(seqsAfter(event(1, 0), event(2, 1), event(1, 0), event(2, 1), event(3, 2))).toEqual([1, 2, 3]);
  });

  it('of another supervisor are, though it counts from 1', () => {
    expect(seqsAfter(event(8, 0), event(1, 5))).toEqual([8, 1]);
  });
});

describe('the page of an order', () => {
  const opened = press(aModel(), 'enter');

  it('reads the order when it is opened, and each second until the order is at its end', () => {
    const id = opened.model.shop?.orders[0]?.id ?? '';
    expect(opened.effects).toEqual([{ type: 'readOrder', id }]);
    expect(update(opened.model, { type: 'tick', nowMs: NOW_MS + 1_000 }).effects).toEqual(opened.effects);
    const trace = { traceId: '', tree: { roots: [], orphans: [] }, spans: 31, note: null };
    const read = update(opened.model, { type: 'order', id, detail: { story: someEvidence(), trace } }).model;
    expect(update(read, { type: 'tick', nowMs: NOW_MS + 1_000 }).effects).toEqual([]);
  });

  it('drops the response for an order that is not shown any more', () => {
    const closed = press(opened.model, 'escape').model;
    const id = opened.model.shop?.orders[0]?.id ?? '';
    expect(update(closed, { type: 'orderFailed', id, why: 'late' }).model).toBe(closed);
  });
});

describe('the presets of the fault picker', () => {
  it('are found by fault, by target, and by both', () => {
    const found = (filter: string) => choicesShown({ ...pickFault(), filter }).map(({ label }) => label);
    expect(found('orders-payments')).toContain('latency 200ms');
    expect(found('orders-payments')).not.toContain('kill');
    expect(found('kill payments')).toContain('kill');
    expect(found('kill nowhere')).toEqual([]);
    const [kill] = faultPresets.filter(({ label }) => label === 'kill');
    const targets = pickTarget(kill as FaultPreset, undefined, { ...pickFault(), filter: 'kill paym' });
    expect(choicesShown(targets).map(({ label }) => label)).toEqual(['payments']);
  });

  it('cover every fault of the catalog but failpoint, whose place is not picked', () => {
    const covered = new Set(faultPresets.map(({ fault }) => fault));
    expect(faults.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual(['failpoint']);
  });

  it.each(faultPresets.map((preset) => [preset.label, preset] as const))(
    '%s is valid and has a target',
    (_, preset) => {
      const { parameters, scope } = findFault(preset.fault);
      expect(() => checkParameters(parameters, preset.parameters, preset.fault)).not.toThrow();
      expect(targetsOf(scope, aState()).length).toBeGreaterThan(0);
    },
  );
});
