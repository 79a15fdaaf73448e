import { diag } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/** Sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name; undefined for the SDK's default, all of them. */
export function samplerOf(env: NodeJS.ProcessEnv): Sampler | undefined {
  const { OTEL_TRACES_SAMPLER: name } = env;
  if (!name) return undefined;
  const root = rootOf(name.replace(/^parentbased_/, ''), ratioOf(env.OTEL_TRACES_SAMPLER_ARG));
  if (root === undefined) {
    diag.error(`OTEL_TRACES_SAMPLER=${name} is not known: all traces are sampled`);
    return undefined;
  }
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootOf(name: string, ratio: number): Sampler | undefined {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : undefined;
}

function ratioOf(text: string | undefined): number {
  const ratio = Number(text || 1);
  if (ratio >= 0 && ratio <= 1) return ratio;
  diag.error(`OTEL_TRACES_SAMPLER_ARG=${text} is not between 0 and 1: 1 is taken`);
  return 1;
}
