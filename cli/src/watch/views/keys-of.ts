import type { Key as InkKey } from 'ink';
import type { Key } from '../model/model.ts';

const named = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageUp'],
  ['pageDown', 'pageDown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['tab', 'tab'],
  ['backspace', 'backspace'],
  ['delete', 'backspace'],
] as const satisfies readonly (readonly [keyof InkKey, Key])[];

/** Keys that are characters. */
const controls: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
};

/** What was pressed; fast typing and pasted text come as one input of several characters, Enter among them. */
export function keysOf(input: string, key: Partial<InkKey>): readonly Key[] {
  const name = named.find(([flag]) => key[flag])?.[1];
  if (name !== undefined) return [name];
  if (key.ctrl || key.meta) return [];
  return [...input].flatMap((character) => {
    const control = controls[character];
    if (control !== undefined) return [control];
    return character >= ' ' ? [{ character }] : [];
  });
}
