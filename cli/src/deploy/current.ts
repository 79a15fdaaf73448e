import type { Canary } from './canary.ts';
import type { JournalRecord } from './run.ts';

/** A deploy that this process carries out. */
export interface Current {
  readonly id: string;
  readonly over: AbortController;
  isPaused: boolean;
  /** By an operator. */
  isPromoted: boolean;
  canary?: Canary;
  readonly done: Promise<void>;
}

/** A record before it has its time and its run. */
export type NewRecord = JournalRecord extends infer R
  ? R extends JournalRecord
    ? Omit<R, 'time' | 'run'>
    : never
  : never;
