// The entry of dist/start.cjs: runs bundles one after the other, as `node --require FIRST LAST` does, with their compiled code.
import { getCompileCacheDir } from 'node:module';
import { resolve } from 'node:path';
import { runBundle } from './compiled-code.ts';

for (const file of process.argv.slice(2)) runBundle(resolve(file), getCompileCacheDir());
