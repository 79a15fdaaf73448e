import { main } from './main.ts';

/**
 * A reader that stops reading (`shopctl logs | head`) is the end of the command, not a defect, and no success either: a
 * verdict that was reached stays the exit code.
 */
function endWithout(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`error: the result cannot be written\n  why:  ${error.message}\n  next: write it elsewhere\n`);
  process.exit(process.exitCode || 1);
}

process.stdout.on('error', endWithout);
// A closed progress pipe must not end what it is about: a fault in the middle of a run is to be reverted.
process.stderr.on('error', () => undefined);

// Connections kept alive must not hold the process once its command is done; what was written must still get out.
process.exitCode = await main(process.argv.slice(2));
process.stdout.write('', (error) => {
  if (error) endWithout(error);
  process.stderr.write('', () => process.exit());
});
