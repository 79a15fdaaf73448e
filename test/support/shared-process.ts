/**
 * Test files of the project `units` share a process, one after the other. What a file leaves changed in it could make the
 * next one pass or fail, so that it fails the file that left it.
 */
import { afterAll, expect } from 'vitest';
import { changesOf, processState } from './process-state.ts';

const before = processState();

// Registered before those of the file, so that it runs after them.
afterAll(() => {
  expect(changesOf(before, processState()), 'what the tests of this file have left changed in their process').toEqual(
    [],
  );
});
