import type { RunVerdict } from '../../shared/verdict.ts';
import type { Boundary, OrderPath } from './boundaries.ts';
import type { CheckedRound } from './check-round.ts';
import { type Round, type Row, rowName } from './plan.ts';
import type { RoundSpec } from './round-experiment.ts';
import { shrink } from './shrink.ts';

/** A fault while an order is held at a boundary, and what came of it. `not covered`: there was no time for it. */
export interface Cell {
  readonly row: Row;
  readonly boundary: Boundary;
  readonly verdict: RunVerdict | 'not covered';
  /** Why it is not a pass. */
  readonly reason: string;
}

/**
 * The smallest that fails. `pair`: the fault while orders are held there, and neither alone. `boundary`: holding alone
 * fails. `fault`: the fault alone does, whatever is held. `not shrunk`: there was no time to find out.
 */
export interface MatrixFinding {
  readonly kind: 'pair' | 'boundary' | 'fault' | 'not shrunk';
  readonly row: Row;
  readonly boundaries: readonly Boundary[];
  readonly reasons: readonly string[];
}

export interface MatrixResult {
  readonly cells: readonly Cell[];
  readonly findings: readonly MatrixFinding[];
  /** Runs that were made, those of shrinking included. */
  readonly runs: number;
}

export interface MatrixPorts {
  /** Never rejects but for a defect: whatever happens is a verdict. */
  run(spec: RoundSpec): Promise<CheckedRound>;
  /** Whether one more run may begin. */
  hasTime(): boolean;
}

/** Covers round by round and shrinks what fails. Ends early when a run is interrupted, or leaves something behind. */
export async function runMatrix(rounds: readonly Round[], ports: MatrixPorts): Promise<MatrixResult> {
  const matrix = new Matrix(ports);
  try {
    for (const round of rounds) await matrix.cover(round);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return matrix.result(rounds);
}

/** The matrix ends here: nothing that is measured now could be trusted. */
class Stopped extends Error {}
class OutOfTime extends Error {}

class Matrix {
  readonly #ports: MatrixPorts;
  readonly #cells = new Map<string, Cell>();
  readonly #findings: MatrixFinding[] = [];
  /** What was run for shrinking and can be met again: a fault alone, boundaries alone. */
  readonly #rounds = new Map<string, CheckedRound>();
  /** Boundaries at which holding an order fails, whatever the fault. */
  readonly #broken = new Set<Boundary>();
  #runs = 0;

  constructor(ports: MatrixPorts) {
    this.#ports = ports;
  }

  result(rounds: readonly Round[]): MatrixResult {
    const cells = rounds.flatMap(({ row, boundaries }) =>
      boundaries.map((boundary): Cell => {
        const covered = this.#cells.get(keyOf(row, boundary));
        return covered ?? { row, boundary, verdict: 'not covered', reason: 'there was no time for it' };
      }),
    );
    return { cells, findings: this.#findings, runs: this.#runs };
  }

  /** Several boundaries of a round may fail on their own: what is left of it is run again until it passes. */
  async cover({ row, boundaries }: Round): Promise<void> {
    const path = (boundaries[0] as Boundary).path;
    for (const one of boundaries) {
      if (this.#broken.has(one)) this.#say(row, [one], 'fail', 'it fails without the fault as well');
    }
    let left = boundaries.filter((one) => !this.#broken.has(one));
    while (left.length > 0 && this.#ports.hasTime()) {
      const checked = await this.#run({ row, boundaries: left, path });
      if (checked.verdict !== 'fail') {
        for (const [boundary, { verdict, reason }] of checked.cells) this.#say(row, [boundary], verdict, reason);
        return;
      }
      const finding = await this.#explain({ row, boundaries: left, path, reasons: checked.reasons });
      this.#findings.push(finding);
      this.#say(row, finding.boundaries, 'fail', finding.reasons[0] ?? '');
      left = left.filter((one) => !finding.boundaries.includes(one));
    }
  }

  #say(row: Row, boundaries: readonly Boundary[], verdict: RunVerdict, reason: string): void {
    for (const boundary of boundaries) this.#cells.set(keyOf(row, boundary), { row, boundary, verdict, reason });
  }

  async #explain(failure: Failure): Promise<MatrixFinding> {
    const { row, boundaries, path, reasons } = failure;
    try {
      const alone = await this.#remembered({ row, boundaries: [], path });
      if (alone.verdict === 'fail') return { kind: 'fault', row, boundaries, reasons: alone.reasons };
      return await this.#shrunk(failure);
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      return { kind: 'not shrunk', row, boundaries, reasons };
    }
  }

  async #shrunk({ row, boundaries, path, reasons }: Failure): Promise<MatrixFinding> {
    let latest = reasons;
    const smallest = await shrink(boundaries, async (part) => {
      const checked = await this.#timed({ row, boundaries: part, path });
      if (checked.verdict === 'fail') latest = checked.reasons;
      return checked.verdict === 'fail';
    });
    const without = await this.#remembered({ row: undefined, boundaries: smallest, path });
    if (without.verdict !== 'fail') return { kind: 'pair', row, boundaries: smallest, reasons: latest };
    if (smallest[0] !== undefined && smallest.length === 1) this.#broken.add(smallest[0]);
    return { kind: 'boundary', row, boundaries: smallest, reasons: without.reasons };
  }

  async #remembered(spec: RoundSpec): Promise<CheckedRound> {
    const names = spec.boundaries.map(({ name }) => name).toSorted();
    const key = [spec.row === undefined ? 'no fault' : rowName(spec.row), spec.path, ...names].join(' ');
    const response = this.#rounds.get(key) ?? (await this.#timed(spec));
    this.#rounds.set(key, response);
    return response;
  }

  async #timed(spec: RoundSpec): Promise<CheckedRound> {
    if (!this.#ports.hasTime()) throw new OutOfTime();
    return this.#run(spec);
  }

  async #run(spec: RoundSpec): Promise<CheckedRound> {
    const checked = await this.#ports.run(spec);
    this.#runs++;
    const { verdict, reasons, cells } = checked;
    if (verdict !== 'dirty' && verdict !== 'interrupted') return checked;
    if (spec.row !== undefined) this.#say(spec.row, [...cells.keys()], verdict, reasons[0] ?? verdict);
    throw new Stopped(reasons[0]);
  }
}

interface Failure {
  readonly row: Row;
  readonly boundaries: readonly Boundary[];
  readonly path: OrderPath;
  readonly reasons: readonly string[];
}

function keyOf(row: Row, { name }: Boundary): string {
  return `${rowName(row)} ${name}`;
}
