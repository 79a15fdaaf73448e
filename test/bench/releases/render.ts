import type { ReleasesJournal, RowRecord } from './journal.ts';
import { hitBy, missesOf } from './outcome.ts';
import { identical, type Trial, trialOf, trials } from './trials.ts';

/** Chance that the tests promise for a good release to be rolled back: 0.8 % by E, 0.2 % by S. */
const FALSE_ROLLBACK = 0.01;

export interface ShownRow {
  readonly trial: Trial;
  readonly row: RowRecord;
  readonly hit: number;
  readonly misses: readonly string[];
}

export interface ReleasesReport {
  readonly runId: string;
  readonly machine: ReleasesJournal['start']['machine'];
  readonly rate: number;
  readonly rows: readonly ShownRow[];
  /** Rollouts of the same sources. */
  readonly identical: {
    readonly rollouts: number;
    readonly rolledBack: number;
    /** Of so many, by what the tests promise. */
    readonly expected: number;
  };
  readonly misses: number;
}

/** Pure. */
export function reportOf({ start, rows }: ReleasesJournal): ReleasesReport {
  const shown = [...rows.values()].map((row): ShownRow => {
    const trial = trialOf(row.id);
    return { trial, row, hit: hitBy(trial, row), misses: missesOf(trial, row) };
  });
  const order = (one: ShownRow) => [...trials, identical].findIndex(({ id }) => id === one.trial.id);
  const same = shown.filter(({ trial, row }) => trial.id === identical.id && row.end !== 'unknown');
  return {
    runId: start.runId,
    machine: start.machine,
    rate: start.rate,
    rows: shown.toSorted((a, b) => order(a) - order(b) || a.row.startedAt.localeCompare(b.row.startedAt)),
    identical: {
      rollouts: same.length,
      rolledBack: same.filter(({ row }) => row.end === 'rolled-back').length,
      expected: same.length * FALSE_ROLLBACK,
    },
    misses: shown.filter(({ misses }) => misses.length > 0).length,
  };
}

/** As Markdown. Pure. */
export function renderReleases(report: ReleasesReport): string {
  const { machine, rate, rows, identical: same } = report;
  const bad = rows.filter(({ trial }) => trial.id !== identical.id);
  return [
    `${machine.cpus}, ${machine.memoryGb} GB, Node ${machine.node}; ${rate} orders a second, each read back; run ${report.runId}`,
    '',
    '| release | has to be found by | verdict | after | limit | customers hit | limit | as it has to be |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...bad.map(lineOf),
    ...rows.flatMap(({ row, misses }) =>
      misses.length > 0 ? ['', `${row.id}: ${misses.join('; ')} (${row.why})`] : [],
    ),
    '',
    `The same sources: ${same.rollouts} rollouts, ${same.rolledBack} rolled back; ${same.expected.toFixed(2)} are expected at most.`,
  ].join('\n');
}

function lineOf({ trial, row, hit, misses }: ShownRow): string {
  const served = trial.isSilent ? `${hit} served by it` : String(hit);
  const cells = [
    trial.title,
    trial.foundBy.join(' or '),
    `${row.end}${row.by === undefined ? '' : ` by ${row.by}`}`,
    `${row.seconds.toFixed(1)} s`,
    `${trial.limitS} s`,
    served,
    String(trial.mostHit),
    misses.length === 0 ? 'yes' : '**no**',
  ];
  return `| ${cells.join(' | ')} |`;
}

/** `errors-20: rolled-back by test E after 8.1 s, 2 customers hit`. Pure. */
export function describeRow(trial: Trial, row: RowRecord): string {
  const by = row.by === undefined ? '' : ` by ${row.by}`;
  const misses = missesOf(trial, row);
  const said = `${row.id}: ${row.end}${by} after ${row.seconds.toFixed(1)} s, ${hitBy(trial, row)} customers hit, ${row.late} of ${row.sent} orders sent late`;
  return misses.length === 0 ? `${said} (${row.why})` : `${said}; MISSED: ${misses.join('; ')} (${row.why})`;
}
