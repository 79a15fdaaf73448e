/**
 * pg deprecates a query on a connection that has not responded to the one before: pg 9 removes it. A test that does so
 * fails the run, as an unhandled error of the test file that is running.
 */
import { afterAll } from 'vitest';

function fail(warning: Error): void {
  if (warning.name === 'DeprecationWarning' && warning.message.includes('client.query()')) throw warning;
}

process.on('warning', fail);
// The next file may have the same process.
afterAll(() => void process.off('warning', fail));
