/**
 * Removes what PostgreSQL leaves outside the state directory of a test run, whose server has been ended.
 * Usage: node test/support/remove-cluster.ts STATE-DIRECTORY. For the guard of a run that was interrupted.
 */
import { rm } from 'node:fs/promises';
import { dataDirectories, outsideFolder } from '../../cli/src/providers/postgres/place.ts';
import { removeSegment } from '../../cli/src/providers/postgres/postmaster.ts';

const [stateDir] = process.argv.slice(2);
if (stateDir === undefined) throw new Error('usage: node test/support/remove-cluster.ts STATE-DIRECTORY');
await Promise.all(dataDirectories(stateDir).map(removeSegment));
await rm(outsideFolder(stateDir), { recursive: true, force: true });
