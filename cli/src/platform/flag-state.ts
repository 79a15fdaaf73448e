import { type FlagDefinition, offDefinition } from '@shop/kit/flag-file.ts';
import { shareOn } from '@shop/kit/flag-share.ts';

/** For which orders a flag is on. */
export type Reach =
  | { readonly kind: 'on' | 'off' }
  /** Off by `flags kill`, whatever else its definition says. */
  | { readonly kind: 'killed' }
  /** On for this share of the orders, 0 to 100. */
  | { readonly kind: 'share'; readonly percent: number }
  /** What rules written by hand decide. */
  | { readonly kind: 'rules' };

/** Weights of a share in thousandths of a percent; whole percents are written as such. */
const FINEST = 1_000;

export function reachOf({ state, variants, defaultVariant, targeting = {} }: FlagDefinition): Reach {
  if (state === 'DISABLED') return { kind: 'killed' };
  if (Object.keys(targeting).length === 0) {
    return { kind: variants[defaultVariant ?? ''] === true ? 'on' : 'off' };
  }
  const share = shareOn({ state, variants, targeting });
  return share === undefined ? { kind: 'rules' } : { kind: 'share', percent: 100 * share };
}

/** As people read it, and as a change has it. */
export function describeReach(reach: Reach): string {
  if (reach.kind === 'share') return `${Number(reach.percent.toFixed(3))} %`;
  return reach.kind;
}

/** On or off for all orders. */
export function withValue(flag: FlagDefinition, isOn: boolean): FlagDefinition {
  const { targeting: _, ...others } = withBoth(flag);
  return { ...others, state: 'ENABLED', defaultVariant: variantOf(others, isOn) };
}

/**
 * On for a share of the orders, 0 to 100 in steps of 0.001. The variant that is on comes first: flagd's `fractional` gives the
 * first one the lowest hashes, so a larger share contains a smaller one.
 */
export function withPercent(flag: FlagDefinition, percent: number): FlagDefinition {
  if (percent === 0 || percent === 100) return withValue(flag, percent === 100);
  const off = withValue(flag, false);
  const unit = Number.isInteger(percent) ? 1 : FINEST;
  const weight = Math.round(percent * unit);
  const fractional = [
    [variantOf(off, true), weight],
    [variantOf(off, false), 100 * unit - weight],
  ];
  return { ...off, targeting: { fractional } };
}

/** Off now; what it was is kept in the file. */
export function killed(flag: FlagDefinition): FlagDefinition {
  return { ...flag, state: 'DISABLED' };
}

export interface FlagMetadata {
  readonly owner?: string;
  /** The last day on which it is to exist, `2026-12-31`. */
  readonly expires?: string;
}

export function withMetadata(flag: FlagDefinition, metadata: FlagMetadata): FlagDefinition {
  if (Object.keys(metadata).length === 0) return flag;
  return { ...flag, metadata: { ...flag.metadata, ...metadata } };
}

/** With a variant for each of on and off; a file written by hand may name one only. */
function withBoth(flag: FlagDefinition): FlagDefinition {
  const values = Object.values(flag.variants);
  if (values.includes(true) && values.includes(false)) return flag;
  return { ...flag, variants: offDefinition.variants };
}

function variantOf({ variants }: Pick<FlagDefinition, 'variants'>, value: boolean): string {
  const [found] = Object.entries(variants).filter(([, one]) => one === value);
  if (found === undefined) throw new Error(`no variant is ${value}: withBoth comes first`);
  return found[0];
}
