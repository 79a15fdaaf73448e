import { connect } from 'node:net';

/** What came back on a connection, as it was. */
export interface RawResponse {
  /** Of the first response; undefined when the connection was closed without one. */
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly text: string;
}

export interface RawOptions {
  /** Closes our side after the last byte; otherwise we only stop sending. */
  readonly end?: boolean;
  /** From the opening of the connection to the first byte. */
  readonly silentMs?: number;
  readonly withinMs?: number;
}

/**
 * Sends these bytes, which no HTTP client would, and gives what came back until the server closed the connection.
 * Rejects when it is still open after `withinMs`: a server must not keep what it cannot respond to.
 */
export function sendRaw(
  url: string,
  parts: readonly (string | Uint8Array)[],
  options: RawOptions = {},
): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const { end = false, silentMs = 0, withinMs = 10_000 } = options;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection was still open after ${withinMs} ms; received: ${Buffer.concat(chunks)}`));
    }, withinMs);
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseResponse(Buffer.concat(chunks).toString()));
    };
    socket.on('data', (chunk) => chunks.push(chunk));
    // A reset after the response is the server's way of not reading the rest of a request it refused.
    socket.on('error', finish).on('end', finish).on('close', finish);
    setTimeout(() => {
      for (const part of parts) socket.write(part);
      if (end) socket.end();
    }, silentMs);
  });
}

function parseResponse(text: string): RawResponse {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1];
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: status === undefined ? undefined : Number(status),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
    text,
  };
}
