import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { mechanisms, plainComponents, scopes } from '../format/vocabulary.ts';
import { rubric } from '../score/rubric.ts';
import { allowedCommands, refusalOf } from './allowed.ts';
import type { PlaySession } from './player.ts';

/** A line to a program. */
export type SessionLine =
  | {
      readonly type: 'task';
      readonly round: string;
      readonly level: number;
      readonly commitment: string;
      readonly limitMs: number;
      readonly tries: number;
      readonly components: readonly string[];
      readonly mechanisms: readonly string[];
      readonly scopes: readonly string[];
      readonly commands: readonly string[];
    }
  | {
      readonly type: 'result';
      /** Of the request, where it had one. */
      readonly id?: unknown;
      /** Null: it did not end within its limit. */
      readonly exitCode: number | null;
      /** What it wrote as JSON: a document, or one a line. */
      readonly stdout: string;
      /** Why it failed. */
      readonly complaint?: string;
    }
  | { readonly type: 'error'; readonly id?: unknown; readonly why: string }
  | { readonly type: 'over' };

/** A line from a program: `{"run": ["status"], "id": 1}`. */
interface SessionRequest {
  readonly run: readonly string[];
  readonly id?: unknown;
}

/** Characters of a line; a longer one is a program that has lost its way. */
const MOST_CHARACTERS = 64 * 1024;

/**
 * Speaks with a program by JSON lines until the round is over, or the program writes no more. Its commands run one after the other. A
 * line other than a request is said to people, so that a program may print.
 */
export async function runJsonSession(
  { input, output }: { readonly input: Readable; readonly output: Writable },
  session: PlaySession,
): Promise<void> {
  const { operator, signal, say } = session;
  const write = (line: SessionLine) => {
    if (output.writable) output.write(`${JSON.stringify(line)}\n`);
  };
  write(taskOf(session));
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const close = () => lines.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    for await (const text of lines) {
      if (signal.aborted) break;
      if (text.trim() === '') continue;
      const request = requestOf(text);
      if (request === undefined) {
        say(text.slice(0, MOST_CHARACTERS));
        continue;
      }
      const id = request.id === undefined ? {} : { id: request.id };
      const refusal = refusalOf(request.run);
      if (refusal !== undefined) {
        write({ type: 'error', ...id, why: refusal });
        continue;
      }
      const { exitCode = null, stdout, complaint } = await operator.run(request.run);
      write({ type: 'result', ...id, exitCode, stdout, ...(complaint !== undefined && { complaint }) });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', close);
    lines.close();
    write({ type: 'over' });
  }
}

function taskOf({ round: { id, level, commitment, limitMs } }: PlaySession): SessionLine {
  return {
    type: 'task',
    round: id,
    level,
    commitment,
    limitMs,
    tries: rubric.diagnose.tries,
    components: [...plainComponents, 'replica:SERVICE-NUMBER'],
    mechanisms,
    scopes,
    commands: allowedCommands,
  };
}

function requestOf(text: string): SessionRequest | undefined {
  try {
    const request = JSON.parse(text) as Partial<SessionRequest> | null;
    const isRequest = Array.isArray(request?.run) && request.run.length > 0;
    return isRequest && request.run?.every((word) => typeof word === 'string')
      ? (request as SessionRequest)
      : undefined;
  } catch {
    return undefined; // Said to people by the caller.
  }
}
