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
 * Named places where a test can make this process end, wait or fail, or lose a response. Nothing outside the machine can
 * reach them: a file `<service>.<name>` in a folder that only this user can open arms one. What a file may say, and when
 * it acts, is `ArmedFailpoint`.
 */
export type Failpoint<Service extends FailpointService> = (name: FailpointName<Service>) => Promise<void>;

/** The work is done and its response is lost: a server sends nothing, a client of a database or broker receives nothing. */
export class ReplyDroppedError extends TransientError {
  override readonly name = 'ReplyDroppedError';
}

/** An HTTP server responds with this status, whatever the result of the work. */
export class ForcedResponseError extends Error {
  override readonly name = 'ForcedResponseError';
  readonly status: number;

  constructor(place: string, status: number) {
    super(`failpoint ${place} responds ${status}`);
    this.status = status;
  }
}

/**
 * What an armed failpoint does: `kill [<ms>]` (SIGKILL to itself, now or that much later while work goes on), `delay
 * <ms>`, `error`, `drop-reply` or `respond <status>`. Then `every=<n>`: each n-th hit acts, counted from when it was
 * armed, over all instances and restarts of the service. And `times=<n>`: it is disarmed by the n-th act, before it
 * acts, so that a restarted process does not end again. Without both it acts once; with only `every` until it is
 * disarmed.
 */
export interface ArmedFailpoint {
  readonly verb: 'kill' | 'delay' | 'error' | 'drop-reply' | 'respond';
  /** ms, or a status; undefined where the verb needs none. */
  readonly argument: number | undefined;
  readonly every: number;
  readonly times: number;
}

const SYNTAX = 'kill [<ms>], delay <ms>, error, drop-reply or respond <status>, then every=<n> times=<n>';
const ORDER = /^(kill|delay|error|drop-reply|respond)(?: (\d+))?(?: every=([1-9]\d*))?(?: times=([1-9]\d*))?$/;

/** Parses the first line of an armed file. Throws RangeError when it is unknown. */
export function parseArmedFailpoint(text: string): ArmedFailpoint {
  const [, verb, argument, every, times] = ORDER.exec(text.trim()) ?? [];
  const needsNumber = verb === 'delay' || verb === 'respond';
  if (verb === undefined || (needsNumber && argument === undefined)) {
    throw new RangeError(`unknown failpoint action "${text.trim()}", expected ${SYNTAX}`);
  }
  return {
    verb: verb as ArmedFailpoint['verb'],
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
    const armed = consumeHit(file);
    if (armed === undefined) return;
    appendFileSync(join(folder, 'acted', `${service}.${name}`), '.', { mode: 0o600 });
    await act(name, armed);
  };
}

/** A user who can write there can end the process. */
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

let hits = 0;

/**
 * Counts a hit of an armed file, and returns what to do when this hit acts. Each hit appends a separate line, so that
 * concurrent instances and killed processes all count, and each knows its number.
 */
function consumeHit(file: string): ArmedFailpoint | undefined {
  hits += 1;
  const own = `${process.pid}.${hits}`;
  const text = appendHit(file, own);
  if (text === undefined) return undefined;
  const [head = '', ...all] = text.split('\n').filter((line) => line !== '');
  const armed = parseArmedFailpoint(head);
  const hit = all.indexOf(own) + 1;
  if (hit === 0 || hit % armed.every !== 0 || hit / armed.every > armed.times) return undefined;
  if (hit / armed.every === armed.times) rmSync(file, { force: true });
  return armed;
}

/** The file with the hit in it; undefined when it was disarmed meanwhile. */
function appendHit(file: string, hit: string): string | undefined {
  try {
    // Not "a", which would make the file of a failpoint that has just been disarmed.
    const opened = openSync(file, constants.O_WRONLY | constants.O_APPEND);
    try {
      writeSync(opened, `\n${hit}`);
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function act(name: string, { verb, argument = 0 }: ArmedFailpoint): Promise<void> {
  switch (verb) {
    case 'kill':
      return kill(argument);
    case 'delay':
      return delay(argument);
    case 'error':
      throw new TransientError(`failpoint ${name}`);
    case 'drop-reply':
      throw new ReplyDroppedError(`failpoint ${name} loses the response`);
    case 'respond':
      throw new ForcedResponseError(name, argument);
  }
}

/** What was handed to a socket just before leaves the process within a few ms. */
function kill(afterMs: number): void {
  const now = () => process.kill(process.pid, 'SIGKILL');
  if (afterMs === 0) now();
  else setTimeout(now, afterMs);
}
