/** Saves of a source under `shopctl up --watch`, in a copy of the repository, and when its new code responds. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { copyTree, linkPackages } from '../support/clone-copy.ts';
import { startGuard } from '../support/guard.ts';

/** Served at every path below, so that each response shows whose code it is. */
export const EDITED = 'services/catalog/src/app.ts';
const HEADER = 'x-edit';
/** With the first build and a start, on a machine that does much else. */
const LIMIT_MS = 300_000;
const ASK_EVERY_MS = 5;

export interface Edit {
  readonly respondedMs: number;
  readonly builtMs: number;
}

interface WatchEvent {
  readonly type: string;
  readonly tookMs?: number;
  readonly endpoints?: readonly { readonly name: string; readonly url?: string }[];
}

export async function measureEdits(options: {
  readonly rounds: number;
  readonly replicas: number;
  readonly say: (line: string) => void;
}): Promise<readonly Edit[]> {
  const { rounds, replicas, say } = options;
  const copy = await mkdtemp(join(tmpdir(), 'shop-bench-watch-'));
  await copyTree(copy);
  await linkPackages(copy);
  const shopctl = join(copy, 'cli/bin/shopctl');
  const env = { ...process.env, SHOPCTL_HOME: join(copy, '.shop'), SHOPCTL_PROJECT: 'bench-watch', NO_COLOR: '1' };
  await using _ = startGuard(copy, [shopctl, 'down', '--volumes'], env);
  const events: WatchEvent[] = [];
  const watching = spawn(shopctl, ['up', '--watch', '--json', '--replicas', `catalog=${replicas}`], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => void watching.once('exit', () => resolve()));
  createInterface({ input: watching.stdout }).on('line', (line) => events.push(JSON.parse(line) as WatchEvent));
  const eventOf = (type: string) => until(() => events.find((one) => one.type === type), `"${type}"`);
  try {
    const { endpoints = [] } = await eventOf('ready');
    const urls = endpoints.filter(({ name }) => name.startsWith('catalog-')).map(({ url }) => url as string);
    await eventOf('watching');
    const source = await readFile(join(copy, EDITED), 'utf8');
    const edits: Edit[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      events.length = 0;
      const text = editedSource(source, round);
      const savedAt = performance.now();
      await writeFile(join(copy, EDITED), text);
      await until(async () => ((await anyServes(urls, String(round))) ? true : undefined), `round ${round}`);
      const respondedMs = performance.now() - savedAt;
      // The other replicas have to follow before the next save.
      await eventOf('applied');
      const { tookMs = Number.NaN } = await eventOf('built');
      edits.push({ respondedMs, builtMs: tookMs });
      say(
        `${replicas} replicas, save ${round}: ${respondedMs.toFixed(0)} ms, of which the build ${tookMs.toFixed(0)} ms`,
      );
    }
    return edits;
  } finally {
    watching.kill('SIGINT');
    await ended;
  }
}

/** The source whose responses name the round. */
export function editedSource(source: string, round: number): string {
  const code = `server.addHook('onSend', async (_, reply) => void reply.header('${HEADER}', '${round}'));`;
  return source.replace('  const addRoutesTo', `  ${code}\n  const addRoutesTo`);
}

export async function anyServes(urls: readonly string[], round: string): Promise<boolean> {
  const headers = await Promise.all(urls.map((url) => headerOf(url)));
  return headers.includes(round);
}

/**
 * Undefined while it refuses connections. A health probe: other requests would prolong the end of the replica that
 * leaves, as it serves clients that keep calling it for up to 1.5 s.
 */
export async function headerOf(url: string): Promise<string | null | undefined> {
  try {
    const response = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.headers.get(HEADER);
  } catch {
    return undefined;
  }
}

export async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come in ${LIMIT_MS / 1000} s`);
    await delay(ASK_EVERY_MS);
  }
}
