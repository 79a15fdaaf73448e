// Goal: what is built, with which options, and where it is put.
// Method: a stand-in for go that writes down how it was called.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buildGoProgram } from './go-build.ts';

const GO = `#!/bin/sh
echo "$GOWORK $*" | sed "s|$CACHE/go-[^/]*|DRAFT|" >>"$CACHE/calls"
echo "$GOCACHE" | sed "s|$CACHE/go-[^/]*|DRAFT|" >"$CACHE/used"
case $1 in
  mod) echo '{"Dir": "'"$CACHE/sources"'"}' ;;
  build)
    while [ "$1" != -o ]; do shift; done
    [ "$3" = "$FAILS" ] && { echo "no such package" >&2; exit 1; }
    echo "$3" >"$2" ;;
esac
`;

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'go-build-'));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'sources'));
  await writeFile(join(folder, 'bin/go'), GO, { mode: 0o755 });
  env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, CACHE: folder };
});
afterEach(() => rm(folder, { recursive: true }));

const build = (more: NodeJS.ProcessEnv = {}) =>
  buildGoProgram(
    {
      title: 'Tool',
      modulePath: 'example.org/tool',
      mainPackage: 'cmd/tool',
      also: ['cmd/helper'],
      version: 'v1.0.0',
      tags: 'small',
      ldflags: '-X main.Version=1',
      target: join(folder, 'tool-v1.0.0/tool'),
    },
    { cacheDir: folder, env: { ...env, ...more } },
    () => undefined,
  );

it('the program and what belongs to it are built in their module, whatever its workspace is, and put side by side', async () => {
  await build();
  expect((await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n')).toEqual([
    'off mod download -json example.org/tool@v1.0.0',
    'off build -trimpath -gcflags=all=-dwarf=false -tags small -ldflags=-s -w -X main.Version=1 -o DRAFT/program-0 ./cmd/helper',
    'off build -trimpath -gcflags=all=-dwarf=false -tags small -ldflags=-s -w -X main.Version=1 -o DRAFT/program-1 ./cmd/tool',
  ]);
  const place = join(folder, 'tool-v1.0.0');
  expect((await readdir(place)).toSorted()).toEqual(['helper', 'helper.sha256', 'tool', 'tool.sha256']);
  expect(await readFile(join(place, 'helper'), 'utf8')).toBe('./cmd/helper\n');
});

it('what it compiled is kept for another build only where GOCACHE names a folder', async () => {
  await build();
  expect(await readFile(join(folder, 'used'), 'utf8')).toBe('DRAFT/cache\n');
  await build({ GOCACHE: '/kept' });
  expect(await readFile(join(folder, 'used'), 'utf8')).toBe('/kept\n');
});

it('where one of them cannot be built there is neither, and why is reported', async () => {
  await expect(build({ FAILS: './cmd/tool' })).rejects.toThrow('Tool v1.0.0 could not be built: no such package');
  expect((await readdir(folder)).toSorted()).toEqual(['bin', 'calls', 'sources', 'used']);
});
