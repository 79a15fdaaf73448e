/**
 * pg deprecates a query on a connection that has not responded to the one before: pg 9 removes it. A test that does so
 * fails the run, as an unhandled error of the test file that is running.
 */
process.on('warning', (warning) => {
  if (warning.name === 'DeprecationWarning' && warning.message.includes('client.query()')) throw warning;
});
