import { type AttemptOutcome, outcomesOfReasons } from '@shop/kit/attempt-outcomes.ts';
import type { BufferedResponse } from './replicas.ts';

/** Of a response of orders. HTTP alone does not say it: an order that payments could not serve is `200 Cancelled`. */
export function outcomeOf(
  method: string,
  { statusCode, body }: Pick<BufferedResponse, 'statusCode' | 'body'>,
): AttemptOutcome {
  if (statusCode >= 500) return 'failed';
  if (method === 'GET') return outcomeOfShown(statusCode);
  if (statusCode === 201) return 'confirmed';
  // The first request with this key is still running.
  if (statusCode === 409) return 'absent';
  return statusCode === 200 ? outcomeOfCancelled(body) : 'rejected';
}

function outcomeOfShown(statusCode: number): AttemptOutcome {
  if (statusCode === 404) return 'absent';
  return statusCode < 300 ? 'ok' : 'rejected';
}

function outcomeOfCancelled(body: Buffer): AttemptOutcome {
  const reason = reasonIn(body.toString());
  return outcomesOfReasons[reason as keyof typeof outcomesOfReasons] ?? 'failed';
}

function reasonIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { reason?: unknown } | null)?.reason;
  } catch {
    // A body that is not JSON has no reason: the attempt is counted as failed, and the client gets the body as it is.
    return undefined;
  }
}
