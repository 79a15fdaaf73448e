import type { SeededBugName } from '../../../kit/src/seeded-bug-names.ts';
import type { Edit } from './edited-sources.ts';

/** What found a release to be bad: a guard, or `test E`, `test S`. */
export type Finder = string;

/** A release that is deployed, usually as a canary of orders, and what has to become of it. */
export interface Trial {
  readonly id: string;
  /** What it does. */
  readonly title: string;
  readonly edits: readonly Edit[];
  /** Whose release it is; orders where it is absent. */
  readonly service?: 'orders' | 'payments';
  readonly strategy?: 'rolling';
  /** As `shopctl chaos inject` takes it; active from the first share on, because the release does harm only then. */
  readonly fault?: readonly string[];
  /** Any of these is right; without one it has to be promoted. */
  readonly foundBy: readonly Finder[];
  /** Seconds from its first share of the requests, or from its start where it never got one. */
  readonly limitS: number;
  /** Orders of customers that may be hit. */
  readonly mostHit: number;
  /** Customers see nothing of it: each order that it served counts as hit. */
  readonly isSilent?: true;
  /** Of the last step, in s: longer than `STEP_S`. */
  readonly lastStepS?: number;
  /** Margin of the plan, where it is another one than `MARGIN`. */
  readonly margin?: string;
  /** For how long it is watched after its promotion, in s. */
  readonly keepS?: number;
}

/** Steps of the plan: weight, requests of the canary. Both take 5 s at least. */
const STEPS = [
  [5, 20],
  [50, 120],
] as const;
const STEP_S = 5;
const MARGIN = '2%';

const ROUTES = 'services/orders/src/routes.ts';
const MAIN = 'services/orders/src/main.ts';
const PLACING = 'const order = await admit(() => placeOrder(request.body, key, deadline));';
const LOADED = 'const config = loadConfig(process.env);';
const DATABASE = 'await using ownership = openOwnership(';
/** Customers have come: what the orders of the preflight do not show begins. */
const CUSTOMER = "if (request.body.customer !== 'preflight')";

/** For each order of a customer, before it is placed. */
const eachOrder = (statement: string): Edit => ({
  file: ROUTES,
  find: PLACING,
  replace: `${CUSTOMER} { ${statement} }\n    ${PLACING}`,
});
/** When the first order of a customer has come. */
const fromFirst = (statement: string) =>
  eachOrder(`if (!globalThis.shopBegan) { globalThis.shopBegan = Date.now(); ${statement} }`);
const atStart = (statement: string): Edit => ({ file: MAIN, find: LOADED, replace: `${LOADED}\n  ${statement}` });
const failing = (share: number) => eachOrder(`if (Math.random() < ${share}) throw new Error('a bad release');`);
const slower = (ms: number) => eachOrder(`await new Promise((resolve) => setTimeout(resolve, ${ms}));`);

/** A seeded bug that is always on, and of which nothing is said. */
const seeded = (name: SeededBugName): Edit => ({
  file: MAIN,
  find: 'HARNESS: parts = createSeededBugs(harness.seededBugs, harness);',
  replace: `parts = createSeededBugs(new Set(['${name}']), { folder: undefined });`,
});

/** All of them, with what next to each is expected of the analysis of canaries (docs/canary.md). */
export const trials: readonly Trial[] = [
  {
    id: 'no-start',
    title: 'does not start',
    edits: [atStart("throw new Error('a bad release');")],
    foundBy: ['exit', 'not-ready'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'early-exit',
    title: 'exits 5 s after its start',
    edits: [atStart('setTimeout(() => process.exit(1), 5_000);')],
    foundBy: ['exit'],
    limitS: 60,
    mostHit: 2,
  },
  {
    id: 'never-ready',
    title: 'never gets ready',
    edits: [
      {
        file: 'services/orders/src/app.ts',
        find: 'await Promise.all([database.ping(), ownership.ensure()]);',
        replace: "throw new Error('a bad release');",
      },
    ],
    foundBy: ['not-ready'],
    limitS: 65,
    mostHit: 0,
  },
  {
    id: 'errors-always',
    title: '500 for each order',
    edits: [{ file: ROUTES, find: PLACING, replace: `throw new Error('a bad release');\n    ${PLACING}` }],
    foundBy: ['preflight'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'errors-customers',
    title: '500 for each order of customers',
    edits: [failing(1)],
    foundBy: ['test E'],
    limitS: 10,
    // 1.5 orders a second, for 5.3 s on average: failures have to span 2 s, are seen once a second, and end with the rollback.
    mostHit: 15,
  },
  { id: 'errors-20', title: '500 for 20 %', edits: [failing(0.2)], foundBy: ['test E'], limitS: 45, mostHit: 10 },
  { id: 'errors-5', title: '500 for 5 %', edits: [failing(0.05)], foundBy: ['test E'], limitS: 80, mostHit: 15 },
  {
    id: 'errors-2',
    title: '500 for 2 %',
    edits: [failing(0.02)],
    foundBy: ['test E'],
    limitS: 150,
    mostHit: 20,
    margin: '1%',
  },
  { id: 'slow-200', title: '200 ms slower', edits: [slower(200)], foundBy: ['test S'], limitS: 70, mostHit: 0 },
  {
    id: 'slow-half',
    title: 'takes half as long again',
    edits: [
      {
        file: ROUTES,
        find: PLACING,
        replace: `const began = performance.now();\n    ${PLACING}\n    ${CUSTOMER} await new Promise((resolve) => setTimeout(resolve, (performance.now() - began) / 2));`,
      },
    ],
    foundBy: ['test S'],
    limitS: 140,
    mostHit: 0,
    margin: '1%',
    // The default plan takes 112 s, too: nothing but the time of a step makes a promotion wait for test S.
    lastStepS: 100,
  },
  {
    id: 'payment-unavailable',
    title: '200 Cancelled, payment unavailable, for a third',
    edits: [
      {
        file: ROUTES,
        find: PLACING,
        replace: `${PLACING}\n    ${CUSTOMER} if (Math.random() < 1 / 3) return { id: order.id, status: 'Cancelled', reason: 'payment unavailable' };`,
      },
    ],
    foundBy: ['test E'],
    limitS: 20,
    mostHit: 10,
  },
  {
    id: 'later-exit',
    title: 'exits 3 s after its first order of a customer',
    edits: [fromFirst('setTimeout(() => process.exit(1), 3_000);')],
    foundBy: ['exit'],
    limitS: 20,
    mostHit: 3,
  },
  {
    id: 'one-statement',
    title: 'one more statement in each order',
    edits: [
      {
        file: ROUTES,
        find: PLACING,
        replace: `await findOrder(database, '00000000-0000-4000-8000-000000000000');\n    ${PLACING}`,
      },
    ],
    foundBy: ['trace-shape'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'one-statement-customers',
    title: 'one more statement in each order of customers',
    edits: [eachOrder("await findOrder(database, '00000000-0000-4000-8000-000000000000');")],
    foundBy: ['trace-shape'],
    limitS: 60,
    mostHit: 1_000,
    isSilent: true,
    lastStepS: 40,
  },
  {
    id: 'reads-more',
    title: 'twelve more statements when an order is read',
    edits: [
      {
        file: ROUTES,
        find: 'const order = UUID.test(id) ?',
        replace:
          'for (let more = 0; more < 12; more += 1) await findOrder(database, id);\n      const order = UUID.test(id) ?',
      },
    ],
    foundBy: ['work'],
    limitS: 60,
    mostHit: 1_500,
    isSilent: true,
    lastStepS: 40,
  },
  {
    id: 'price',
    title: 'orders cost a hundredth',
    edits: [
      {
        file: 'services/orders/src/catalog-client.ts',
        find: 'priceKopiykas: body.price,',
        replace: 'priceKopiykas: Math.ceil(body.price / 100),',
      },
    ],
    // What costs more than payments accept does not any more.
    foundBy: ['preflight'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'price-customers',
    title: 'the same once customers have come',
    edits: [
      fromFirst(''),
      {
        file: 'services/orders/src/catalog-client.ts',
        find: 'priceKopiykas: body.price,',
        replace: 'priceKopiykas: globalThis.shopBegan ? Math.ceil(body.price / 100) : body.price,',
      },
    ],
    foundBy: ['audit'],
    limitS: 60,
    mostHit: 1_000,
    isSilent: true,
    lastStepS: 60,
  },
  {
    id: 'retry-declined',
    title: 'sends a declined payment again',
    edits: [seeded('retry-declined')],
    foundBy: ['trace-shape'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'no-idempotency-key',
    title: 'payments charges again when a charge is repeated, and one response of sixty is lost',
    service: 'payments',
    edits: [
      {
        file: 'services/payments/src/main.ts',
        find: "HARNESS: if (harness.seededBugs.has('no-idempotency-key')) payments",
        replace: 'payments',
      },
    ],
    fault: 'payments failpoint --at charge-decided:response-unsent --action drop-reply --every 60'.split(' '),
    foundBy: ['audit'],
    limitS: 120,
    mostHit: 3_000,
    isSilent: true,
    lastStepS: 110,
  },
  {
    id: 'saga-state',
    title: 'writes a saga state that the release of before does not know',
    edits: [
      {
        file: 'services/orders/src/repository.ts',
        find: '    after.state,\n    after.version,',
        replace: "    after.state === 'StockReserved' ? 'StockHeld' : after.state,\n    after.version,",
      },
    ],
    // The database refuses a state that no migration has brought.
    foundBy: ['preflight'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'no-drain',
    title: 'ends at SIGTERM with its requests in flight',
    strategy: 'rolling',
    edits: [
      {
        file: MAIN,
        find: 'drain: (end) => orders.drain({ shared, ...end })',
        replace: 'drain: async () => process.exit(0)',
      },
    ],
    foundBy: ['drain'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'unreadable-event',
    title: 'publishes events that cannot be read',
    edits: [
      {
        file: 'services/orders/src/publisher.ts',
        find: 'Buffer.from(row.payload),',
        replace: "Buffer.from('{'),",
      },
    ],
    foundBy: ['dead-letters', 'trace-shape'],
    limitS: 60,
    mostHit: 0,
  },
  {
    id: 'unreadable-event-customers',
    title: 'the same once customers have come',
    edits: [
      fromFirst(''),
      {
        file: 'services/orders/src/publisher.ts',
        find: 'Buffer.from(row.payload),',
        replace: "Buffer.from(globalThis.shopBegan ? '{' : row.payload),",
      },
    ],
    foundBy: ['dead-letter'],
    limitS: 20,
    mostHit: 200,
    isSilent: true,
  },
  {
    id: 'leak',
    title: 'keeps 50 MB a minute',
    edits: [
      atStart(
        'const kept: Buffer[] = []; setInterval(() => kept.push(Buffer.alloc(2 ** 20, kept.length)), 1_200).unref();',
      ),
    ],
    foundBy: ['memory'],
    limitS: 180,
    mostHit: 6_000,
    isSilent: true,
    lastStepS: 170,
  },
  {
    id: 'locks-table',
    title: 'locks the table that all replicas write',
    edits: [
      fromFirst('void globalThis.shopLock(); void globalThis.shopLock();'),
      {
        file: MAIN,
        find: DATABASE,
        replace: `globalThis.shopLock = async () => {
    for (;;) {
      await database
        .transaction(async (transaction) => {
          await transaction.query({ name: 'LOCK', text: 'LOCK TABLE orders IN EXCLUSIVE MODE' }, []);
          await transaction.query({ name: 'SLEEP', text: 'SELECT pg_sleep(1.8)' }, []);
        })
        .catch(() => undefined);
    }
  };
  ${DATABASE}`,
      },
    ],
    foundBy: ['total-errors'],
    limitS: 60,
    // Ten seconds of orders: decision 0137.
    mostHit: 300,
  },
  {
    id: 'slow-poison',
    title: 'good for 45 s, then 500 for half',
    edits: [
      eachOrder(
        "globalThis.shopBegan ??= Date.now(); if (Date.now() - globalThis.shopBegan > 45_000 && Math.random() < 0.5) throw new Error('a bad release');",
      ),
    ],
    foundBy: ['total-errors', 'test E'],
    limitS: 105,
    mostHit: 150,
    keepS: 90,
  },
];

/** The same sources. */
export const identical: Trial = {
  id: 'aa',
  title: 'the same sources',
  edits: [],
  foundBy: [],
  limitS: 120,
  mostHit: 0,
};

/** The trials with these ids; each place of `aa` is one rollout. Throws RangeError with all that are unknown. Pure. */
export function trialOf(id: string): Trial {
  const [name] = id.split('#');
  const found = [identical, ...trials].find((trial) => trial.id === name);
  if (found === undefined) throw new RangeError(`there is no row "${id}"`);
  return found;
}

/** A plan of `shopctl deploy`, as text. Pure. */
export function planOf({ service = 'orders', lastStepS = STEP_S, margin = MARGIN, limitS }: Trial): string {
  const steps = STEPS.map(([weight, requests], index) => {
    const seconds = index === STEPS.length - 1 ? lastStepS : STEP_S;
    return `  - { weight: ${weight}, requests: ${requests}, for: ${seconds}s }`;
  });
  return [
    'version: shop.deploy/v1',
    `service: ${service}`,
    'strategy: canary',
    'baseline: fresh',
    'steps:',
    ...steps,
    `limit: ${Math.max(240, limitS + 60)}s`,
    'analysis:',
    `  margin: ${margin}`,
    '',
  ].join('\n');
}
