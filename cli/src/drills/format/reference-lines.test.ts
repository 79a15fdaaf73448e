import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { readScenarios } from './catalog.ts';
import { parseReferenceLine, placeholderIn } from './reference-lines.ts';

describe('a line of a reference solution', () => {
  it.each([
    ['wait page', { kind: 'wait-page', text: 'wait page' }],
    [
      'wait page QueueNotDraining',
      { kind: 'wait-page', text: 'wait page QueueNotDraining', alert: 'QueueNotDraining' },
    ],
    ['wait symptom', { kind: 'wait-symptom', text: 'wait symptom' }],
    ['wait 65s', { kind: 'wait', text: 'wait 65s', ms: 65_000 }],
  ])('%s is a wait', (line, expected) => {
    expect(parseReferenceLine(line)).toEqual(expected);
  });

  it('is a command otherwise, with quoted words as one', () => {
    const line = parseReferenceLine('drill note "orders were slow; it has ended" --as me');
    expect(line).toMatchObject({
      kind: 'command',
      words: ['drill', 'note', 'orders were slow; it has ended', '--as', 'me'],
    });
  });

  it.each([
    ['wait', 'expected "wait page", "wait page NAME", "wait symptom" or "wait 10s", got "wait"'],
    ['wait page or so', 'expected "wait page"'],
    ['wait symptom or so', 'expected "wait page"'],
    ['drill note "open', 'a quote does not end'],
    ['outbox redrive @gone', 'unknown placeholder "@gone": one of @failed, '],
    [' ', 'the line is empty'],
  ])('is refused: %s', (line, why) => {
    expect(() => parseReferenceLine(line)).toThrow(why);
  });

  it('has placeholders with what they are of, and with what is before them', () => {
    expect(placeholderIn('trace:@failed')).toEqual({ name: 'failed', of: undefined, prefix: 'trace:' });
    expect(placeholderIn('@blocker:orders')).toEqual({ name: 'blocker', of: 'orders', prefix: '' });
    expect(placeholderIn('alert:OutboxStalled')).toBeUndefined();
  });
});

it('every scenario has a solution whose lines can be read', async () => {
  const lines = (await readScenarios(cloneRoot())).flatMap(({ reference }) => reference);
  expect(lines.map(parseReferenceLine)).toHaveLength(lines.length);
});
