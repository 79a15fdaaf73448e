import type { OtlpMetric } from '../otlp/otlp-json.ts';

/** A part of what the supervisor reports about itself and the platform. */
export interface Meter {
  /** What is known now; what is not known is left out. */
  metrics(): readonly OtlpMetric[];
  end(): Promise<void>;
}
