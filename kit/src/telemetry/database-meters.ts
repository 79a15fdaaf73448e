import { createNoopMeter, type MeterProvider } from '@opentelemetry/api';

/**
 * `provider` without up-down counters. The PostgreSQL instrumentation counts idle, used and awaited connections anew
 * whenever one is taken or given back, six sums with attributes for each statement; nobody reads them, and the pool's
 * size is a setting. Durations of statements are recorded as before.
 */
export function withoutUpDownCounters(provider: MeterProvider): MeterProvider {
  const none = createNoopMeter();
  return {
    getMeter(...which) {
      const meter = provider.getMeter(...which);
      return new Proxy(meter, {
        get(target, name) {
          if (name === 'createUpDownCounter') return none.createUpDownCounter.bind(none);
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}
