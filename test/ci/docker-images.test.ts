/**
 * Goal: .ci/docker-images fetches every image that the tests with an engine run, and names each part that it must leave out.
 * Method: an engine and a script of stand-ins that only record calls, and programs that are on the PATH already.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getReaperImage } from 'testcontainers/build/reaper/reaper.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { containerImages } from '../../cli/src/providers/docker-plans.ts';

const LIMIT_MS = 120_000;
const { postgres, rabbitmq, toxiproxy, jaeger, prometheus } = containerImages;
const base = ['node:24-slim', postgres, rabbitmq];
const others = [toxiproxy, jaeger, prometheus, getReaperImage()];

/** Knows the images in `here`, pulls those in `registry`. */
const engine = `#!/bin/sh
cd "$(dirname "$0")/.."
case "$1 $2" in
  "image inspect") grep -qxF "$3" here ;;
  "pull --quiet") grep -qxF "$3" registry && echo "$3" >>here ;;
  "compose version") test -e has-compose ;;
  *) exit 1 ;;
esac
`;
/** Makes what it is asked for, and records the arguments. */
const standIns = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >asked
while [ $# -gt 0 ]; do
  case $1 in
    node) echo "$NODE_TAGS" ;;
    postgres) echo "$POSTGRES_TAGS" ;;
    rabbitmq) echo "$RABBITMQ_TAGS" ;;
    --toxiproxy) shift; echo "$TOXIPROXY_TAGS" ;;
    --jaeger) shift; echo "$JAEGER_TAGS" ;;
  esac >>here
  shift
done
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-images-'));
  await mkdir(join(folder, 'bin'));
  await program('bin/docker', engine);
  await program('bin/toxiproxy-server', '#!/bin/sh\n');
  await program('bin/jaeger', '#!/bin/sh\n');
  await program('bin/k6', '#!/bin/sh\necho "k6 v2.0.0 (test)"\n');
  await program('stand-ins', standIns);
  await writeFile(join(folder, 'has-compose'), '');
});
afterEach(() => rm(folder, { recursive: true }));

async function program(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), 0o755);
}

interface Machine {
  readonly here?: readonly string[];
  readonly registry?: readonly string[];
  readonly standIns?: boolean;
}

/** What the script says on such a machine, its exit code, and the images that are there afterwards. */
async function fetchOn({ here = [], registry = [], standIns: hasStandIns = false }: Machine) {
  const lines = (images: readonly string[]) => images.map((one) => `${one}\n`).join('');
  await writeFile(join(folder, 'here'), lines(here));
  await writeFile(join(folder, 'registry'), lines(registry));
  const { OFFLINE_IMAGES: _ours, DOCKER_HOST: _engine, ...env } = process.env;
  const settings = {
    PATH: `${join(folder, 'bin')}:${env.PATH}`,
    // Nothing is to be installed for this: configured servers count as present, and are not called.
    SHOPCTL_POSTGRES_URL: 'postgres://nobody@127.0.0.1:1/none',
    SHOPCTL_RABBITMQ_URL: 'amqp://127.0.0.1:1',
    DOCKER_HOST: `unix://${folder}/none.sock`,
    // Six programs of Node in each run: what they compile is kept for the next.
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    ...(hasStandIns && { OFFLINE_IMAGES: join(folder, 'stand-ins') }),
  };
  const { code, said } = await new Promise<{ code: number; said: string }>((resolve, reject) => {
    const file = join(cloneRoot(), '.ci/docker-images');
    execFile(file, { env: { ...env, ...settings }, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), said: stdout + stderr });
    });
  });
  const images = (await readFile(join(folder, 'here'), 'utf8')).trim().split('\n');
  return {
    code,
    said,
    images: images.toSorted(),
    leftOut: [...said.matchAll(/^left out: (.*?): /gm)].map(([, part]) => part),
  };
}

it('pulls all of them, those of Jaeger, Toxiproxy and the reaper included', { timeout: LIMIT_MS }, async () => {
  const { code, said, images, leftOut } = await fetchOn({ registry: [...base, ...others] });
  expect(code, said).toBe(0);
  expect(images).toEqual([...base, ...others].toSorted());
  expect(leftOut).toEqual([]);
});

it('has the others made, under the names that the code pins, of programs here', { timeout: LIMIT_MS }, async () => {
  const { code, said, images, leftOut } = await fetchOn({
    here: ['node:24-slim'],
    registry: [postgres],
    standIns: true,
  });
  expect(code, said).toBe(0);
  expect(images).toEqual([...base, toxiproxy, jaeger].toSorted());
  expect(await readFile(join(folder, 'asked'), 'utf8')).toBe(
    `rabbitmq --toxiproxy ${folder}/bin/toxiproxy-server --jaeger ${folder}/bin/jaeger\n`,
  );
  expect(leftOut).toEqual(['Prometheus in a container', 'removal of the containers of a killed test run']);
});

it('names what it leaves out, and goes on with the rest', { timeout: LIMIT_MS }, async () => {
  await rm(join(folder, 'has-compose'));
  const { code, said, leftOut } = await fetchOn({ here: base });
  expect(code, said).toBe(0);
  expect(leftOut).toEqual([
    'Toxiproxy in a container',
    'Jaeger in a container, Compose',
    'Prometheus in a container',
    'removal of the containers of a killed test run',
    'Compose',
  ]);
});

it('ends with 3 where an image is not available that all tests need', { timeout: LIMIT_MS }, async () => {
  const { code, said } = await fetchOn({ here: ['node:24-slim'], registry: [rabbitmq] });
  expect(code, said).toBe(3);
  expect(said).toContain(`missing: ${postgres}\n`);
});
