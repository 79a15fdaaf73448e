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

/** Key that the service and the telemetry that is loaded before it share. */
const UNTRUSTED = Symbol.for('shop.untrusted-headers');

/** Marks the headers of an untrusted client for a propagator that does not know whose they are. */
export function distrust(headers: object): void {
  Object.defineProperty(headers, UNTRUSTED, { value: true });
}

export function isDistrusted(carrier: unknown): boolean {
  return typeof carrier === 'object' && carrier !== null && UNTRUSTED in carrier;
}
