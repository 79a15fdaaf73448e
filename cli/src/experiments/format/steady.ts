/** The hypothesis of an experiment that states none, as it would be written. */
export const steadyTitle = 'Orders are confirmed and drained';

export const steadyProbes: unknown[] = [
  {
    name: 'steady: all ready',
    type: 'probe',
    provider: { type: 'ready', target: 'all' },
    tolerance: true,
    within: '10s',
  },
  {
    name: 'steady: an order',
    type: 'probe',
    provider: { type: 'orders' },
    tolerance: { each: { response: 'Confirmed' } },
    within: '10s',
  },
  {
    name: 'steady: outbox drained',
    type: 'probe',
    provider: { type: 'metric', name: 'shop.outbox.pending', of: 'max' },
    tolerance: 0,
    within: '10s',
  },
  {
    name: 'steady: no compensation waits',
    type: 'probe',
    provider: { type: 'metric', name: 'shop.compensations.waiting', of: 'max' },
    tolerance: 0,
    within: '10s',
  },
  {
    name: 'steady: its trace',
    type: 'probe',
    provider: { type: 'trace', of: 'steady: an order', which: 'last' },
    tolerance: { contract: 'confirmed' },
    within: '15s',
  },
];
