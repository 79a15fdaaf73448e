import { type Attributes, metrics } from '@opentelemetry/api';

/**
 * Counts the HTTP requests that a server has not responded to yet, by method and scheme (`http.server.active_requests`,
 * semantic conventions 1.44). The function that it gives counts one that has come, and gives what counts it as over.
 */
export function countActiveRequests(): (series: Attributes) => () => void {
  const active = metrics.getMeter('shop').createUpDownCounter('http.server.active_requests', {
    description: 'HTTP requests that have come and are not responded to yet.',
    unit: '{request}',
  });
  return (series) => {
    active.add(1, series);
    return () => active.add(-1, series);
  };
}
