import { describe, expect, it } from 'vitest';
import { aSaga } from '../testing/sagas.ts';
import {
  type CancelReason,
  type CompensationName,
  isEnded,
  nextAction,
  orderSaga,
  type Participants,
  type SagaState,
  type StateRow,
  type Step,
  type StepName,
  type StepOutcome,
  statusOf,
  stepOf,
  steps,
} from './saga.ts';
import { afterCompensation, afterFailedRound, afterPivot, afterStep } from './transitions.ts';

/*
 * Both tables of docs/saga.md, row by row: the titles are the transitions, with what stays to be compensated in brackets.
 */

const states = ['Started', 'StockReserved', 'PaymentCharged', 'Confirmed', 'Compensating', 'Cancelled'] as const;
const done: StepOutcome = { kind: 'done' };
const refused = (reason: CancelReason): StepOutcome => ({ kind: 'refused', reason });
const unknown: StepOutcome = { kind: 'unknown', error: 'no response in 2000 ms' };

function step(name: StepName): Step {
  return steps.find((candidate) => candidate.name === name) as Step;
}

describe('after a step', () => {
  it.each([
    ['Started', 'reserved', 'StockReserved', 'reserve stock'],
    ['StockReserved', 'accepted', 'PaymentCharged', 'charge payment'],
  ] as const)('%s + %s -> %s', (from, _response, to, name) => {
    const saga = aSaga({ state: from, version: 7 });
    expect(afterStep(saga, step(name), done)).toEqual({ ...saga, state: to, version: 8 });
  });

  it.each([
    ['Started', 'insufficient', 'Cancelled', 'out of stock', [], 'reserve stock', refused('out of stock')],
    ['Started', 'released before', 'Cancelled', 'stock unavailable', [], 'reserve stock', refused('stock unavailable')],
    ['Started', 'no clear response', 'Compensating', 'stock unavailable', ['release stock'], 'reserve stock', unknown],
    [
      'StockReserved',
      'declined',
      'Compensating',
      'payment declined',
      ['release stock'],
      'charge payment',
      refused('payment declined'),
    ],
    [
      'StockReserved',
      'voided before',
      'Compensating',
      'payment unavailable',
      ['release stock'],
      'charge payment',
      refused('payment unavailable'),
    ],
    [
      'StockReserved',
      'no clear response',
      'Compensating',
      'payment unavailable',
      ['refund payment', 'release stock'],
      'charge payment',
      unknown,
    ],
  ] as const)('%s + %s -> %s "%s" %j', (from, _response, to, reason, pending, name, outcome) => {
    const after = afterStep(aSaga({ state: from, version: 2 }), step(name), outcome);
    expect(after).toMatchObject({ state: to, reason, pending, version: 3 });
  });

  it('keeps why the outcome is unknown', () => {
    expect(afterStep(aSaga(), step('reserve stock'), unknown).lastError).toBe('no response in 2000 ms');
  });
});

describe('after the last step', () => {
  it('PaymentCharged + confirmed -> Confirmed', () => {
    const saga = aSaga({ state: 'PaymentCharged', version: 3 });
    expect(afterPivot(saga, orderSaga.PaymentCharged)).toEqual({ ...saga, state: 'Confirmed', version: 4 });
  });
});

describe('after a compensation', () => {
  const both: readonly CompensationName[] = ['refund payment', 'release stock'];
  const table: readonly [readonly CompensationName[], CompensationName, SagaState, readonly CompensationName[]][] = [
    [both, 'refund payment', 'Compensating', ['release stock']],
    [both, 'release stock', 'Compensating', ['refund payment']],
    [['refund payment'], 'refund payment', 'Cancelled', []],
    [['release stock'], 'release stock', 'Cancelled', []],
  ];
  it.each(table)('Compensating %j + %s succeeded -> %s %j', (pending, name, state, left) => {
    const saga = aSaga({ state: 'Compensating', reason: 'payment unavailable', pending, version: 4 });
    const after = afterCompensation(saga, name);
    expect(after).toMatchObject({ state, pending: left, version: 5, reason: 'payment unavailable' });
  });

  it('Compensating + a round failed -> Compensating, one attempt more', () => {
    const saga = aSaga({
      state: 'Compensating',
      reason: 'payment unavailable',
      pending: both,
      attempts: 2,
      version: 4,
    });
    const after = afterFailedRound(saga, 'refund payment: breaker open');
    expect(after).toEqual({ ...saga, attempts: 3, version: 5, lastError: 'refund payment: breaker open' });
  });

  it('forgets the last error when the last one succeeded', () => {
    const saga = aSaga({
      state: 'Compensating',
      reason: 'stock unavailable',
      pending: ['release stock'],
      lastError: 'x',
    });
    expect(afterCompensation(saga, 'release stock').lastError).toBeNull();
  });
});

describe('the next action', () => {
  it.each([
    ['Started', { kind: 'step', name: 'reserve stock', compensation: 'release stock' }],
    ['StockReserved', { kind: 'step', name: 'charge payment', compensation: 'refund payment' }],
    ['PaymentCharged', { kind: 'pivot' }],
    ['Confirmed', { kind: 'end' }],
    ['Compensating', { kind: 'compensation' }],
    ['Cancelled', { kind: 'end' }],
  ] as const)('in %s is %j', (state, action) => {
    expect(nextAction(aSaga({ state, pending: ['release stock'] }))).toMatchObject(action);
  });

  it('is an error in a state that the table does not have', () => {
    expect(() => nextAction(aSaga({ state: 'Paid' as SagaState }))).toThrow('unknown saga state "Paid"');
  });
});

describe('the status on the wire', () => {
  it('is decided from Compensating on, although compensation still goes on', () => {
    expect(states.map((state) => [state, statusOf(state)])).toEqual([
      ['Started', null],
      ['StockReserved', null],
      ['PaymentCharged', null],
      ['Confirmed', 'Confirmed'],
      ['Compensating', 'Cancelled'],
      ['Cancelled', 'Cancelled'],
    ]);
  });

  it('has two ends, Confirmed and Cancelled', () => {
    expect(states.filter(isEnded)).toEqual(['Confirmed', 'Cancelled']);
  });
});

describe('the table of steps', () => {
  it('leads from Started to Confirmed without a gap', () => {
    const path = Object.entries(orderSaga).flatMap(([state, row]) => ('reached' in row ? [[state, row.reached]] : []));
    expect(path).toEqual([
      ['Started', 'StockReserved'],
      ['StockReserved', 'PaymentCharged'],
      ['PaymentCharged', 'Confirmed'],
    ]);
  });

  it.each([
    ['reserve stock', 'reserve', 'release stock', 'release'],
    ['charge payment', 'charge', 'refund payment', 'refund'],
  ] as const)('%s calls %s, %s calls %s', async (name, run, compensation, compensate) => {
    const called: string[] = [];
    const participant = (call: keyof Participants) => async () => {
      called.push(call);
      return done as never;
    };
    const participants: Participants = {
      reserve: participant('reserve'),
      charge: participant('charge'),
      release: participant('release'),
      refund: participant('refund'),
    };
    await step(name).run(participants, aSaga());
    await stepOf(compensation).compensate(participants, aSaga());
    expect(called).toEqual([run, compensate]);
  });

  it('has no step for an unknown compensation', () => {
    expect(() => stepOf('refund stock' as CompensationName)).toThrow('unknown compensation "refund stock"');
  });

  it('has separate failpoints in each row that saves', async () => {
    const names: string[] = [];
    const pass = async (name: string) => void names.push(name);
    const rows: readonly StateRow[] = Object.values(orderSaga);
    for (const row of rows.filter((one) => one.kind !== 'end')) {
      await row.unsaved(pass);
      await row.saved(pass);
    }
    expect(names).toHaveLength(8);
    expect(new Set(names).size).toBe(names.length);
  });
});
