import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from './config.ts';
import type { FailpointName, FailpointService } from './failpoint-names.ts';
import { TransientError } from './failures.ts';

/**
 * Named places where a test can make this process die, wait or fail, or lose an answer. Nothing outside the machine can
 * reach them: a file `<service>.<name>` in a folder that only this user can open arms one. What a file may say, and when
 * it acts, is `FailpointOrder`.
 */
export type Failpoint<Service extends FailpointService> = (name: FailpointName<Service>) => Promise<void>;

/** The work is done and its answer is lost: the door says nothing more, a client of a database or broker has heard nothing. */
export class ReplyDroppedError extends TransientError {
  override readonly name = 'ReplyDroppedError';
}

/** An HTTP door answers with this status, whatever the work came to. */
export class ForcedAnswerError extends Error {
  override readonly name = 'ForcedAnswerError';
  readonly status: number;

  constructor(place: string, status: number) {
    super(`failpoint ${place} answers ${status}`);
    this.status = status;
  }
}

/**
 * What an armed failpoint does: `kill [<ms>]` (SIGKILL to itself, now or that much later while work goes on), `delay <ms>`,
 * `error`, `drop-reply` or `respond <status>`, then `every=<n>` (each n-th hit acts, counted from when it was armed, over all
 * instances and restarts of the service) and `times=<n>` (it is disarmed by the n-th act, before it acts, so that a
 * restarted process does not die again). Without both it acts once; with `every` alone until it is disarmed.
 */
export interface FailpointOrder {
  readonly verb: 'kill' | 'delay' | 'error' | 'drop-reply' | 'respond';
  /** ms, or a status; undefined where the verb needs none. */
  readonly argument: number | undefined;
  readonly every: number;
  readonly times: number;
}

const SYNTAX = 'kill [<ms>], delay <ms>, error, drop-reply or respond <status>, then every=<n> times=<n>';
const ORDER = /^(kill|delay|error|drop-reply|respond)(?: (\d+))?(?: every=([1-9]\d*))?(?: times=([1-9]\d*))?$/;

/** Reads the first line of an armed file. Throws RangeError when it says nothing that is known. */
export function parseFailpointOrder(text: string): FailpointOrder {
  const [, verb, argument, every, times] = ORDER.exec(text.trim()) ?? [];
  const needsNumber = verb === 'delay' || verb === 'respond';
  if (verb === undefined || (needsNumber && argument === undefined)) {
    throw new RangeError(`a failpoint cannot "${text.trim()}", expected ${SYNTAX}`);
  }
  return {
    verb: verb as FailpointOrder['verb'],
    argument: argument === undefined ? undefined : Number(argument),
    every: Number(every ?? 1),
    times: times === undefined && every !== undefined ? Number.POSITIVE_INFINITY : Number(times ?? 1),
  };
}

/** Does nothing, at the price of a call: without a folder no file is looked for and nothing is counted. */
const disarmed = () => Promise.resolve();

/**
 * The failpoints of a service; without a folder they cannot be armed. Every hit appends one byte to
 * `hits/<service>.<name>`, every act one to `acted/<service>.<name>`, before it acts: a file's size is the count, and
 * survives the SIGKILL that follows. Throws ConfigError when others can open the folder.
 */
export function createFailpoints<Service extends FailpointService>(
  service: Service,
  folder: string | undefined,
): Failpoint<Service> {
  if (folder === undefined) return disarmed;
  for (const part of ['hits', 'acted']) mkdirSync(join(folder, part), { recursive: true, mode: 0o700 });
  refuseSharedFolder(folder);
  const countHit = createCounter(join(folder, 'hits'), service);
  return async (name) => {
    countHit(name);
    const file = join(folder, `${service}.${name}`);
    if (!existsSync(file)) return;
    const order = takeTurn(file);
    if (order === undefined) return;
    appendFileSync(join(folder, 'acted', `${service}.${name}`), '.', { mode: 0o600 });
    await act(name, order);
  };
}

/** Whoever could write there could end the process. */
function refuseSharedFolder(folder: string): void {
  const { mode, uid } = statSync(folder);
  if ((mode & 0o077) === 0 && uid === process.getuid?.()) return;
  throw new ConfigError(`configuration: FAILPOINT_DIR must be a folder that only this user can open (mode 0700)`);
}

/** Appends to files that stay open: one write of a byte per hit, in the page cache. */
function createCounter(folder: string, service: string): (name: string) => void {
  const files = new Map<string, number>();
  return (name) => {
    let file = files.get(name);
    if (file === undefined) {
      file = openSync(join(folder, `${service}.${name}`), 'a', 0o600);
      files.set(name, file);
    }
    writeSync(file, '.');
  };
}

let turns = 0;

/**
 * Takes the next turn at an armed file, and tells what to do when it is one that acts. Each hit appends a line of its own,
 * so that instances that hit at once, and processes that were killed, all count, and each knows its number.
 */
function takeTurn(file: string): FailpointOrder | undefined {
  turns += 1;
  const own = `${process.pid}.${turns}`;
  const text = appendTurn(file, own);
  if (text === undefined) return undefined;
  const [head = '', ...taken] = text.split('\n').filter((line) => line !== '');
  const order = parseFailpointOrder(head);
  const turn = taken.indexOf(own) + 1;
  if (turn === 0 || turn % order.every !== 0 || turn / order.every > order.times) return undefined;
  if (turn / order.every === order.times) rmSync(file, { force: true });
  return order;
}

/** The file with the turn in it; undefined when it was disarmed meanwhile. */
function appendTurn(file: string, turn: string): string | undefined {
  try {
    // Not "a", which would make the file of a failpoint that has just been disarmed.
    const opened = openSync(file, constants.O_WRONLY | constants.O_APPEND);
    try {
      writeSync(opened, `\n${turn}`);
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function act(name: string, { verb, argument = 0 }: FailpointOrder): Promise<void> {
  switch (verb) {
    case 'kill':
      return kill(argument);
    case 'delay':
      return delay(argument);
    case 'error':
      throw new TransientError(`failpoint ${name}`);
    case 'drop-reply':
      throw new ReplyDroppedError(`failpoint ${name} loses the answer`);
    case 'respond':
      throw new ForcedAnswerError(name, argument);
  }
}

/** What was handed to a socket just before leaves the process within a few ms. */
function kill(afterMs: number): void {
  const now = () => process.kill(process.pid, 'SIGKILL');
  if (afterMs === 0) now();
  else setTimeout(now, afterMs);
}
