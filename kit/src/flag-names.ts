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

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(flags, name);
}

/** The flags that are on. Unknown names pass: the file may be newer than this service. Throws TypeError for another shape. */
export function parseFlags(text: string): ReadonlySet<FlagName> {
  const values: unknown = JSON.parse(text);
  const isRecord = typeof values === 'object' && values !== null && !Array.isArray(values);
  if (!isRecord || Object.values(values).some((value) => typeof value !== 'boolean')) {
    throw new TypeError('feature flags are an object of true and false, {"<name>": true}');
  }
  const on = Object.entries(values).filter(([, value]) => value === true);
  return new Set(on.map(([name]) => name).filter(isFlagName));
}
