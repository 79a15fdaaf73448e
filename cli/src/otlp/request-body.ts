import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** A request that cannot be taken, with the HTTP status and what its sender can change. */
export class BadExportError extends Error {
  override readonly name = 'BadExportError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const unzip = promisify(gunzip);

/**
 * The JSON body of an OTLP export, at most `maxBytes` long after decompression.
 * Throws BadExportError: 415 for another encoding, 413 when it is too large, 400 when it is not JSON.
 */
export async function readExport(request: IncomingMessage, maxBytes: number): Promise<object> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    throw new BadExportError(
      415,
      `content type ${type ?? 'missing'} is not taken, only OTLP/HTTP JSON: set OTEL_EXPORTER_OTLP_PROTOCOL=http/json`,
    );
  }
  const raw = await readAll(request, maxBytes);
  const bytes = request.headers['content-encoding'] === 'gzip' ? await inflate(raw, maxBytes) : raw;
  try {
    const body: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // Rejected below, as is JSON that is not an object.
  }
  throw new BadExportError(400, 'the body is not a JSON object');
}

/** At most `maxBytes` of a body. Throws BadExportError (413) above. */
export async function readAll(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function inflate(raw: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await unzip(raw, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new BadExportError(400, 'the body is not gzip, although Content-Encoding says so');
  }
}

function tooLarge(maxBytes: number): BadExportError {
  return new BadExportError(413, `the body is larger than ${maxBytes} bytes: send smaller batches`);
}
