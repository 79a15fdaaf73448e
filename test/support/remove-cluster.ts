/**
 * Removes what PostgreSQL leaves outside the state directory of a test run, whose server has been ended.
 * Usage: node test/support/remove-cluster.ts STATE-DIRECTORY. For the guard of a run that was interrupted.
 */
import { removeOutside } from '../../cli/src/providers/postgres/place.ts';

const [stateDir] = process.argv.slice(2);
if (stateDir === undefined) throw new Error('usage: node test/support/remove-cluster.ts STATE-DIRECTORY');
await removeOutside(stateDir);
