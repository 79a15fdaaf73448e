import type { IncomingMessage } from 'node:http';
import { BadExportError, readAll } from '../../otlp/request-body.ts';
import { invalid } from './responses.ts';

/** Prometheus sends 256 alerts of about 1 KiB in one request. */
const MAX_BODY_BYTES = 2 * 1024 ** 2;

/** The JSON of a request's body; `name` is what the OpenAPI document calls it. Throws RefusedError. */
export async function readJsonBody(request: IncomingMessage, name: string): Promise<unknown> {
  // Without a type it is of no known one. Source: RFC 9110, section 8.3.
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() || 'application/octet-stream';
  if (type !== 'application/json')
    throw invalid(415, 415, `unsupported media type "${type}", only [application/json] are allowed`);
  const text = await readText(request);
  if (text === '') throw invalid(422, 602, `${name} in body is required`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(400, 400, `parsing ${name} body from "" failed, because ${(error as Error).message}`);
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  try {
    return (await readAll(request, MAX_BODY_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof BadExportError) throw invalid(error.status, error.status, error.message);
    throw error;
  }
}
