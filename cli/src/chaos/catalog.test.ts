import { describe, expect, it } from 'vitest';
import { faults } from './catalog.ts';
import { checkParameters } from './parameters.ts';

describe('the record of a fault', () => {
  it.each(faults.map((fault) => [fault.name, fault] as const))(
    '%s has valid defaults for the matrix, or says why the matrix excludes it',
    (name, { defaults, parameters }) => {
      if ('excluded' in defaults) expect(defaults.excluded).toMatch(/\w+ \w+/);
      else expect(() => checkParameters(parameters, defaults.parameters, name)).not.toThrow();
    },
  );

  it.each(faults.map((fault) => [fault.name, fault] as const))(
    '%s can be asked for at its end, or says why not, where it lasts',
    (_, { isMomentary = false, isInPlace, whyNotAsked }) => {
      const responses = [isMomentary, isInPlace !== undefined, whyNotAsked !== undefined];
      expect(responses.filter(Boolean)).toHaveLength(1);
    },
  );

  it.each(
    faults.flatMap(({ name, parameters, presets = [{}] }) =>
      presets.map((preset) => [name, preset, parameters] as const),
    ),
  )('%s has the valid preset %j', (name, preset, parameters) => {
    expect(() => checkParameters(parameters, preset, name)).not.toThrow();
  });
});
