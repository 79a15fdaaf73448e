import type { TObject } from 'typebox';
import { faults, targetsOf } from '../../chaos/catalog.ts';
import type { Lease } from '../../chaos/lease.ts';
import { writeParameters } from '../../chaos/parameters.ts';
import type { PlatformState } from '../../platform/state.ts';
import type { Choice, Picker } from './model.ts';
import { type FaultPreset, loadRates, orderPresets, usualSpan } from './presets.ts';

const base = { kind: 'picker', filter: '', index: 0, before: undefined } as const;

/** Choices whose label or keywords contain every word that was typed. */
export function choicesShown({ choices, filter }: Picker): readonly Choice[] {
  const words = filter.toLowerCase().split(/\s+/);
  return choices.filter(({ label, keywords = [] }) => {
    const texts = [label.toLowerCase(), ...keywords];
    return words.every((word) => texts.some((text) => text.includes(word)));
  });
}

export function pickOrder(): Picker {
  const choices = orderPresets.map(
    (order): Choice => ({ label: order.label, detail: '', value: { kind: 'order', order } }),
  );
  return { ...base, title: 'Place an order', choices, span: undefined };
}

export function pickLoad(): Picker {
  const choices = loadRates.map(
    (perSecond): Choice => ({ label: `${perSecond} orders/s`, detail: '', value: { kind: 'load', perSecond } }),
  );
  return { ...base, title: 'Start a load', choices, span: usualSpan };
}

/** The presets of every fault of the catalog. */
export const faultPresets: readonly FaultPreset[] = faults.flatMap(
  ({ name, scope, title, parameters: schema, presets = [{}] }) =>
    presets.map((parameters): FaultPreset => {
      // A parameter that is called like its fault need not be named again: `latency 1s`.
      const how = writeParameters(schema as TObject, parameters).replace(`${name} `, '');
      return { fault: name, scope, label: `${name} ${how}`.trim(), title, parameters };
    }),
);

/** Faults are found by where they can act, too. */
export function pickFault(state?: PlatformState): Picker {
  const choices = faultPresets.map(
    (preset): Choice => ({
      label: preset.label,
      keywords: targetsOf(preset.scope, state),
      detail: preset.title,
      value: { kind: 'fault', preset },
    }),
  );
  return { ...base, title: 'Inject a fault: which', choices, span: undefined };
}

export function pickTarget(preset: FaultPreset, state: PlatformState | undefined, before: Picker): Picker {
  const choices = targetsOf(preset.scope, state).map(
    (target): Choice => ({ label: target, detail: '', value: { kind: 'target', preset, target } }),
  );
  // What was typed of the target is not typed again.
  const typed = before.filter.toLowerCase().split(/\s+/);
  const filter = typed.filter((word) => !preset.label.toLowerCase().includes(word)).join(' ');
  return { ...base, filter, title: `Inject ${preset.label}: where`, choices, span: usualSpan, before };
}

export function pickClear(active: readonly Lease[]): Picker {
  const each = active.map(
    ({ id, target, fault }): Choice => ({
      label: `${target} ${fault}`,
      detail: id,
      value: { kind: 'clear', ids: [id] },
    }),
  );
  const all: Choice = { label: 'all faults', detail: '', value: { kind: 'clear', ids: undefined } };
  return { ...base, title: 'Revert a fault', choices: each.length > 1 ? [...each, all] : each, span: undefined };
}

/** Services, their replicas where there are several, and components. */
export function pickRestart(state: PlatformState | undefined): Picker {
  const groups = Map.groupBy(state?.instances ?? [], ({ service }) => service);
  const choices = [...groups].flatMap(([service, instances]) => {
    const names = instances.length > 1 ? [service, ...instances.map(({ name }) => name)] : [service];
    return names.map((name): Choice => ({ label: name, detail: '', value: { kind: 'restart', service: name } }));
  });
  return { ...base, title: 'Restart', choices, span: undefined };
}
