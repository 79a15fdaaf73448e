import type { ServiceDefinition } from './services.ts';

/** The second port of a gRPC service in its image. */
export const IMAGE_HEALTH_PORT = 8081;

/**
 * What Node reads in the image of a service unless the container's environment says otherwise, as `NAME=value` lines: all
 * services have the same Dockerfile.
 */
export function imageEnvironment({ protocol, semiSpaceMb }: ServiceDefinition): string {
  const health = protocol === 'grpc' ? `HEALTH_PORT=${IMAGE_HEALTH_PORT}\n` : '';
  return `${health}NODE_OPTIONS=--max-semi-space-size=${semiSpaceMb}\n`;
}
