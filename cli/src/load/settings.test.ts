import { describe, expect, it } from 'vitest';
import { findScenario, resolveSettings } from './settings.ts';

describe('findScenario', () => {
  it('names the nearest one', () => {
    expect(() => findScenario('retry-strom')).toThrow(
      expect.objectContaining({
        code: 'unknown_scenario',
        what: expect.stringContaining('did you mean "retry-storm"?'),
      }),
    );
    // A name that every object has is none of ours.
    expect(() => findScenario('constructor')).toThrow(expect.objectContaining({ code: 'unknown_scenario' }));
  });
});

describe('resolveSettings', () => {
  it('takes what was said, and the rest from the scenario', () => {
    expect(resolveSettings(findScenario('steady'), { rate: 7 }, false)).toEqual({
      rate: 7,
      durationS: 60,
      vus: 200,
      hasFault: false,
    });
  });

  it('makes a short scenario automatically long enough for a fault', () => {
    expect(resolveSettings(findScenario('smoke'), {}, true).durationS).toBe(36);
    expect(resolveSettings(findScenario('steady'), {}, true).durationS).toBe(60);
  });

  it.each([
    ['steady', { rate: 0 }, false, '--rate: at least 1 order a second'],
    ['steady', { vus: 0 }, false, '--vus: at least 1'],
    ['steady', { duration: 1_500 }, false, '--duration: whole seconds, at least 5s, got 1.5s'],
    ['steady', { duration: 20_000 }, true, '--duration: whole seconds, at least 36s with --chaos, got 20s'],
    ['hot-product', { rate: 3 }, false, '--rate: its users wait'],
    ['spike', {}, true, '--chaos: its own load changes'],
  ])('refuses %s with %j (fault: %s)', (name, options, hasFault, why) => {
    expect(() => resolveSettings(findScenario(name), options, hasFault)).toThrow(
      expect.objectContaining({ code: 'invalid_load', why: expect.stringContaining(why) }),
    );
  });
});
