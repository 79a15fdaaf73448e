#!/usr/bin/env node
/**
 * Keeps the contracts of a release: copies the OpenAPI documents, event schemas, proto files and migrations to
 * contracts/released/<version>/, against which later changes are judged. Usage: release-contracts.mjs <version>
 */
import { cp, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [version = ''] = process.argv.slice(2);

if (!/^\d+\.\d+\.\d+$/.test(version)) {
  console.error(`"${version}" is no version; say which one is released: npm run contracts:release -- 1.2.3`);
  process.exit(2);
}
const folder = join(root, 'contracts/released', version);
const exists = await stat(folder).then(
  () => true,
  (error) => {
    if (error.code === 'ENOENT') return false;
    throw error;
  },
);
if (exists) {
  console.error(`${folder} exists: what was released does not change; choose the next version`);
  process.exit(2);
}
await mkdir(folder, { recursive: true });
await cp(join(root, 'contracts/openapi'), join(folder, 'openapi'), { recursive: true });
await cp(join(root, 'contracts/events'), join(folder, 'events'), { recursive: true });
await cp(join(root, 'proto'), join(folder, 'proto'), { recursive: true });
await cp(join(root, 'migrations'), join(folder, 'migrations'), { recursive: true });
console.log(`contracts/released/${version} is the release that changes are judged against now`);
