import { open } from 'node:fs/promises';
import { unless } from '../shared/unless.ts';

const BLOCK_BYTES = 64 * 1024;

/** The last lines of a file, at most 64 KiB of them; none when the file does not exist. */
export async function tailLines(file: string, count: number): Promise<string[]> {
  await using handle = await open(file, 'r').catch(unless('ENOENT'));
  if (handle === undefined) return [];
  const { size } = await handle.stat();
  const from = Math.max(0, size - BLOCK_BYTES);
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - from), position: from });
  const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n');
  // The first line of a block cut out of the middle is not whole.
  if (from > 0) lines.shift();
  return lines.filter((line) => line !== '').slice(-count);
}

/** Enough of the lines before to have the message that several starts repeated, and the ones before it. */
const LOOKED_AT = 40;
const WORSE_THAN_INFO = ['warn', 'error', 'fatal'];

/**
 * The last messages of a log, at most `count` different ones, for people: `error: the database cannot be reached: ECONNREFUSED`. What
 * is routine is left out where something else is there.
 */
export async function lastMessages(file: string, count: number): Promise<string[]> {
  const messages = (await tailLines(file, LOOKED_AT)).map(messageIn);
  const notable = messages.filter(({ isRoutine }) => !isRoutine);
  const texts = (notable.length > 0 ? notable : messages).map(({ text }) => text);
  // A process that was started again and again says the same each time: the last time counts.
  return texts.filter((text, index) => texts.lastIndexOf(text) === index).slice(-count);
}

/** What a line of a log says. A line of another program, as a stack of Node, stays as it is. */
function messageIn(line: string): { readonly text: string; readonly isRoutine: boolean } {
  const record = parseRecord(line);
  if (typeof record?.msg !== 'string') return { text: line, isRoutine: false };
  const { level, msg, reason, err } = record;
  const isRoutine = !WORSE_THAN_INFO.includes(String(level));
  const why = typeof reason === 'string' ? reason : (err as { message?: unknown } | undefined)?.message;
  const parts = [...(isRoutine ? [] : [level]), msg, ...(typeof why === 'string' && !msg.includes(why) ? [why] : [])];
  return { text: parts.join(': '), isRoutine };
}

function parseRecord(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
