import { type Context, createContextKey, trace } from '@opentelemetry/api';

/** Keys of the same name are equal, so the service and the telemetry that is loaded before it share this one. */
const DECIDED_HERE = createContextKey('shop: the sampling decision of the remote parent does not bind');

/** `context` with a remote parent of an untrusted client: its sampled flag is ignored, and the sampler decides as for a root. */
export function decideSamplingHere(context: Context): Context {
  return context.setValue(DECIDED_HERE, true);
}

/** True for a span right below such a parent, and not for the spans below that. */
export function isDecidedHere(context: Context): boolean {
  return context.getValue(DECIDED_HERE) === true && trace.getSpanContext(context)?.isRemote === true;
}
