import { diag } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { isDecidedHere } from './sampling-decision.ts';

/** Sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name; by default the SDK's: all traces. */
export function samplerOf(env: NodeJS.ProcessEnv): Sampler {
  const name = env.OTEL_TRACES_SAMPLER || DEFAULT;
  const root = rootOf(name.replace(/^parentbased_/, ''), ratioOf(env.OTEL_TRACES_SAMPLER_ARG));
  if (root === undefined) {
    diag.error(`OTEL_TRACES_SAMPLER=${name} is not known: all traces are sampled`);
    return samplerOf({});
  }
  return name.startsWith('parentbased_') ? parentBased(root) : root;
}

const DEFAULT = 'parentbased_always_on';

/** The sampled flag of an untrusted client is ignored: it could hide an order, or have every request recorded. */
function parentBased(root: Sampler): Sampler {
  const byParent = new ParentBasedSampler({ root });
  return {
    shouldSample: (context, ...span) => (isDecidedHere(context) ? root : byParent).shouldSample(context, ...span),
    toString: () => byParent.toString(),
  };
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
