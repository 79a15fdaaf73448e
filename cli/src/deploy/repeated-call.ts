import { services } from '../topology/services.ts';
import type { TraceSpan } from '../trace/tree.ts';

/**
 * The first call of a trace that failed and was made again, as `POST of orders failed: timeout`. What the one that was called did before is in the trace as
 * well, so such a trace cannot be compared with its contract. Calls by those that call `service` are left out: its release may be why
 * they failed. Pure.
 */
export function repeatedCall(spans: readonly TraceSpan[], service: string): string | undefined {
  const isOfCaller = (name: string) =>
    services.some((one) => one.name === name && ((one.calls ?? []) as readonly string[]).includes(service));
  const failed = spans.find(
    (span) =>
      span.kind === 'client' && span.error && !isRejected(span) && !isOfCaller(span.service) && isRepeated(span, spans),
  );
  if (failed === undefined) return undefined;
  const type = failed.attributes['error.type'] ?? failed.statusMessage ?? 'without a reason';
  return `${failed.name} of ${failed.service} failed and was repeated: ${type}`;
}

/** A 4xx is a response, which says that the same call would get it again. */
function isRejected({ attributes }: TraceSpan): boolean {
  const status = Number(attributes['http.response.status_code']);
  return status >= 400 && status < 500;
}

/** Made again: the same call of the same step, that began when this one had ended. */
function isRepeated(failed: TraceSpan, spans: readonly TraceSpan[]): boolean {
  return spans.some(
    ({ kind, name, service, parentSpanId, startNanos }) =>
      kind === 'client' &&
      name === failed.name &&
      service === failed.service &&
      parentSpanId === failed.parentSpanId &&
      startNanos >= failed.endNanos,
  );
}
