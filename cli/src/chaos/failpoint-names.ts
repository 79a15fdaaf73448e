import type { ServiceName } from '../platform/services.ts';

/**
 * Boundaries at which a service can be made to die, wait or fail: S of the saga, K of its compensation, R of the relay,
 * H of shipping's delivery, P of the providers' sides. A test keeps this equal to the services' sources.
 */
export const failpointNames = {
  orders: ['S0', 'S1', 'S2', 'S4', 'S5', 'S6', 'S7', 'S8', 'S9', 'S10', 'K1', 'K2', 'K3', 'K5', 'R1', 'R2', 'R3', 'R4'],
  stock: ['P1', 'P2', 'P3'],
  payments: ['P1', 'P2'],
  shipping: ['H1', 'H2', 'H3', 'H4'],
} as const satisfies Partial<Record<ServiceName, readonly string[]>>;
