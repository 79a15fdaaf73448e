import { main } from './main.ts';

// A reader that stops reading (`shopctl logs | head`) is the end of the command, not a defect.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

// Connections kept alive must not hold the process once its command is done; what was written must still get out.
process.exitCode = await main(process.argv.slice(2));
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
