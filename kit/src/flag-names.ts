/** A feature that can be switched on. */
export interface Flag {
  /** The service that evaluates it. */
  readonly service: 'orders';
  /** What happens while it is on. */
  readonly title: string;
}

/** Every flag. All are off by default. */
export const flags = {
  'publish-order-confirmed-v2': {
    service: 'orders',
    title: 'publishes order.confirmed.v2 beside order.confirmed, for the time in which consumers change over',
  },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;

export const flagNames = Object.keys(flags) as readonly FlagName[];

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}
