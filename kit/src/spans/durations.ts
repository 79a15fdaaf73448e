import { type Histogram, metrics } from '@opentelemetry/api';

/** Bounds in s that the conventions advise for durations of calls. */
const BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Every duration that is recorded, and what it is of. */
export const durations = {
  'http.server.request.duration': 'Duration of incoming HTTP requests.',
  'http.client.request.duration': 'Duration of outgoing HTTP requests, up to the end of the response.',
  'rpc.server.call.duration': 'Duration of incoming gRPC calls.',
  'rpc.client.call.duration': 'Duration of outgoing gRPC calls.',
  'db.client.operation.duration': 'Duration of SQL statements.',
  'db.client.connection.wait_time': 'Time to get an open connection from the pool.',
  'messaging.client.operation.duration': 'Duration of publishing, up to the confirm.',
  'messaging.process.duration': 'Duration of processing a delivery, up to its acknowledgement.',
} as const;

/** The convention's metric of that name, in s (semantic conventions 1.44). Created with each server or client: the SDK has started by then. */
export function durationOf(name: keyof typeof durations): Histogram {
  const advice = { explicitBucketBoundaries: BOUNDS_S };
  return metrics.getMeter('shop').createHistogram(name, { description: durations[name], unit: 's', advice });
}
