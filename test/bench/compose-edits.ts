/** Saves of a source under `docker compose watch`, in a copy of the repository, and when its new code responds. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyTree } from '../support/clone-copy.ts';
import { freePort } from '../support/free-port.ts';
import { startGuard } from '../support/guard.ts';
import { anyServes, EDITED, editedSource, headerOf, until } from './edits.ts';

const execute = promisify(execFile);
const files = ['--file', 'compose.yaml', '--file', 'override.yaml'];

/** Milliseconds from each save to the first response of its code. Needs an engine, `docker compose`, and what images are made of. */
export async function measureComposeEdits(options: {
  readonly rounds: number;
  readonly say: (line: string) => void;
}): Promise<readonly number[]> {
  const { rounds, say } = options;
  const copy = await mkdtemp(join(tmpdir(), 'shop-bench-compose-'));
  const project = `shop-bench-watch-${process.pid}`;
  const port = await freePort();
  await copyTree(copy);
  // Its port is published, and its images are not those of "up --runtime docker". A document of JSON is one of YAML.
  const [image, migrations] = [`${project}-catalog`, `${project}-migrations`];
  const catalog = { image, ports: [`127.0.0.1:${port}:8080`] };
  await writeFile(
    join(copy, 'override.yaml'),
    JSON.stringify({ services: { catalog, 'catalog-migrations': { image: migrations } } }),
  );
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: project,
    SHOP_PASSWORD: randomBytes(12).toString('hex'),
    COMPOSE_PROGRESS: 'plain',
  };
  const remove = `cd '${copy}' && docker compose ${files.join(' ')} down --volumes && docker image rm ${image} ${migrations}`;
  await using _ = startGuard(copy, ['sh', '-c', remove], env);
  say('docker compose up --build catalog ...');
  await execute('docker', ['compose', ...files, 'up', '--build', '--detach', 'catalog'], {
    cwd: copy,
    env,
    maxBuffer: 1 << 26,
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => ((await headerOf(url)) === undefined ? undefined : true), 'catalog');
  const watching = spawn('docker', ['compose', ...files, 'watch', '--no-up', 'catalog'], {
    cwd: copy,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => void watching.once('exit', () => resolve()));
  try {
    await new Promise<void>((resolve, reject) => {
      // What it says first differs between versions; it watches by then.
      for (const stream of [watching.stdout, watching.stderr]) stream.on('data', () => resolve());
      watching.once('exit', (code) => reject(new Error(`docker compose watch ended with ${code}`)));
    });
    const source = await readFile(join(copy, EDITED), 'utf8');
    const tookMs: number[] = [];
    // The first save makes what later ones reuse, and does not count.
    for (let round = 0; round <= rounds; round += 1) {
      const savedAt = performance.now();
      await writeFile(join(copy, EDITED), editedSource(source, round));
      await until(async () => ((await anyServes([url], String(round))) ? true : undefined), `round ${round}`);
      if (round > 0) tookMs.push(performance.now() - savedAt);
      say(`docker compose watch, save ${round}: ${(performance.now() - savedAt).toFixed(0)} ms`);
    }
    return tookMs;
  } finally {
    watching.kill('SIGINT');
    await ended;
  }
}

/** Why it cannot be measured with this `docker compose`; undefined when it can. `watch` came with 2.22. */
export async function whyNoCompose(): Promise<string | undefined> {
  try {
    const { stdout } = await execute('docker', ['compose', 'version', '--short']);
    const [, major = 0, minor = 0] = /^v?(\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? [];
    return major > 2 || (major === 2 && minor >= 23)
      ? undefined
      : `docker compose is ${stdout.trim()}, and 2.23 is needed`;
  } catch {
    return 'there is no "docker compose"';
  }
}
