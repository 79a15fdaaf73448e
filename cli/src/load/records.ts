import { open } from 'node:fs/promises';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { unless } from '../shared/unless.ts';

/** Reads a line of k6's console; undefined for one that is none of a scenario's records. */
export function parseRecord(line: string): OrderRecord | undefined {
  if (!line.startsWith('{')) return undefined;
  let value: Partial<OrderRecord>;
  try {
    value = JSON.parse(line) as Partial<OrderRecord>;
  } catch {
    return undefined; // Something else that a script printed.
  }
  const { phase, key, at, tookMs, http, expected } = value;
  const isRecord =
    typeof phase === 'string' &&
    typeof key === 'string' &&
    [at, tookMs, http].every((number) => typeof number === 'number') &&
    typeof expected === 'boolean';
  return isRecord ? (value as OrderRecord) : undefined;
}

/** Reads what is appended to k6's console, from look to look. */
export interface RecordReader {
  /** What came since the last look. A half-written line waits for its end. */
  read(): Promise<readonly OrderRecord[]>;
  /** Lines that were no records, the first few. */
  readonly others: readonly string[];
}

const KEPT_OTHERS = 5;
const CHUNK_BYTES = 1 << 20;

/** A file that is not there yet is an empty one. */
export function createRecordReader(file: string): RecordReader {
  let offset = 0;
  let rest = Buffer.alloc(0);
  const others: string[] = [];
  return {
    others,
    async read() {
      const appended = await readFrom(file, offset);
      offset += appended.length;
      const text = Buffer.concat([rest, appended]);
      const end = text.lastIndexOf('\n') + 1;
      rest = text.subarray(end);
      const lines = text
        .subarray(0, end)
        .toString('utf8')
        .split('\n')
        .filter((line) => line !== '');
      return lines.flatMap((line) => {
        const record = parseRecord(line);
        if (record === undefined && others.length < KEPT_OTHERS) others.push(line);
        return record ?? [];
      });
    },
  };
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  const handle = await open(file, 'r').catch(unless('ENOENT'));
  if (handle === undefined) return Buffer.alloc(0);
  try {
    const chunks: Buffer[] = [];
    for (let at = offset; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
      if (bytesRead === 0) return Buffer.concat(chunks);
      chunks.push(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}
