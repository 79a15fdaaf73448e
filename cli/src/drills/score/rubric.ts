/** The numbers of rubric v1. Another number is another rubric: scores of rounds are compared over months. */
export const rubric = {
  detect: { points: 20, fullWithinMs: 30_000, noneAfterMs: 300_000 },
  diagnose: {
    points: 35,
    component: 15,
    adjacent: 5,
    mechanism: 12,
    family: 4,
    scope: 8,
    withoutEvidence: 25,
    wrong: 5,
    tries: 3,
  },
  mitigate: { points: 30, fullWithinMs: 300_000, atLimit: 10, goodForMs: 60_000 },
  safety: { points: 15, needless: 5, order: 2, destroyed: 10, undoneWithinMs: 30_000 },
  hints: { detect: 3, locate: 5, mitigate: 8 },
  allClear: { points: 100, declared: 30, blamed: 65, guessed: 35, undecided: 20, lookForMs: 60_000, sources: 3 },
  /** When customers notice: within the last seconds so many, and at least this share. So many orders a second are usual. */
  customers: { windowMs: 5_000, least: 2, failedShare: 0.02, slowShare: 0.05, ordersPerSecond: 8 },
} as const;

/** Kinds of changes that may disturb customers. */
export const disruptive: ReadonlySet<string> = new Set([
  'configuration',
  'dead-letter',
  'deploy',
  'drain',
  'flag',
  'ops',
  'reroute',
  'restart',
  'scale',
  'shed',
  'stop',
  'weight',
]);
