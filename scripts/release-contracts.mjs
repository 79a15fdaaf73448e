#!/usr/bin/env node
/**
 * Records HEAD as a release: copies its OpenAPI documents, event schemas, proto files and migrations to
 * contracts/released/<version>/, against which later changes are checked, and adds it to releases.json. Commit both.
 * Usage: npm run contracts:release -- <version>. Exit code 2: wrong usage; nothing was changed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readReleases } from './releases.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [version = ''] = process.argv.slice(2);
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const sources = { openapi: 'contracts/openapi', events: 'contracts/events', proto: 'proto', migrations: 'migrations' };
const folder = join(root, 'contracts/released', version);

function refuse(why) {
  console.error(why);
  process.exit(2);
}

if (!/^\d+\.\d+\.\d+$/.test(version)) {
  refuse(`"${version}" is not a version; say which one is released: npm run contracts:release -- 1.2.3`);
}
if (existsSync(folder)) refuse(`${folder} exists: what was released does not change; choose the next version`);
if (git('status', '--porcelain') !== '') {
  refuse('the tree has changes that HEAD lacks: commit the release first, then record it');
}

await mkdir(folder, { recursive: true });
for (const [name, source] of Object.entries(sources)) {
  // How buf lints is not released.
  const isContract = (path) => !path.endsWith('/buf.yaml');
  await cp(join(root, source), join(folder, name), { recursive: true, filter: isContract });
}
const release = { version, commit: git('rev-parse', 'HEAD'), date: git('show', '-s', '--format=%cs', 'HEAD') };
const lines = [...readReleases(root), release].map(
  (one) => `  { "version": "${one.version}", "commit": "${one.commit}", "date": "${one.date}" }`,
);
await writeFile(join(root, 'releases.json'), `[\n${lines.join(',\n')}\n]\n`);
console.log(
  `${version} is the release that changes are checked against now; commit contracts/released and releases.json`,
);
