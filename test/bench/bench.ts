import { startWorker, type Worker } from './measure/worker.ts';
import { type Chain, openChain } from './subjects/chain.ts';
import { type Databases, type Floor, openFloor, openServer } from './subjects/floor.ts';
import { openShop, type Shop } from './subjects/shop.ts';

export interface BenchOptions {
  readonly rounds: number;
  /** Length of one shot, in ms. */
  readonly shotMs: number;
  /** Short shots and small tables: proves that everything runs, and measures little. */
  readonly quick: boolean;
}

/**
 * How the platform of a row is wired. `few` and `many` are `direct`, for tables that are filled beforehand. So is
 * `traced`, for what is compared with `metered` (metrics alone), `untraced` (neither) or `stock` (traced by
 * OpenTelemetry's instrumentations). These must have run as short a time before: code gets faster for minutes.
 */
type ShopKind = 'direct' | 'traced' | 'stock' | 'metered' | 'untraced' | 'proxied' | 'few' | 'many';

/** What the rows measure on, each opened when it is first asked for, warmed up, and closed at the end. */
export interface Bench extends AsyncDisposable {
  readonly options: BenchOptions;
  say(line: string): void;
  shop(kind: ShopKind): Promise<Shop>;
  databases(): Promise<Databases>;
  floor(): Promise<Floor>;
  chain(): Promise<Chain>;
  /** Loads a subject until its code is as fast as it gets. What the bench opens itself is warm. */
  warm<T extends Pick<Floor, 'shoot'>>(subject: T): Promise<T>;
  /** Closes what is open; what is asked for afterwards is opened again. */
  closeAll(): Promise<void>;
}

const KINDS = {
  direct: { direct: true },
  traced: { direct: true },
  few: { direct: true },
  many: { direct: true },
  stock: { direct: true, env: { SHOPCTL_INSTRUMENTATION: 'stock' } },
  metered: { direct: true, env: { OTEL_TRACES_EXPORTER: 'none' } },
  untraced: { direct: true, env: { OTEL_SDK_DISABLED: 'true' } },
  proxied: { direct: false },
} as const satisfies Record<ShopKind, object>;

/** Warm code is what is measured: the first seconds of a process are several times slower, and it gets faster for a minute. */
const WARM_UP_MS = { full: 60_000, quick: 1_000 } as const;

export function openBench(options: BenchOptions, say: (line: string) => void): Bench {
  let stack = new AsyncDisposableStack();
  const opened = new Map<string, Promise<AsyncDisposable>>();
  const warmUpMs = WARM_UP_MS[options.quick ? 'quick' : 'full'];

  /** Opens `name` once. */
  function once<T extends AsyncDisposable>(name: string, open: () => Promise<T>): Promise<T> {
    const known = opened.get(name) ?? begin(name, open);
    opened.set(name, known);
    return known as Promise<T>;
  }

  async function begin<T extends AsyncDisposable>(name: string, open: () => Promise<T>): Promise<T> {
    say(`opening ${name}`);
    return stack.use(await open());
  }

  const loadTool = () =>
    once(
      'the load tool',
      async (): Promise<Worker> => startWorker(new URL('./subjects/load-worker.ts', import.meta.url)),
    );

  async function warm<T extends Pick<Floor, 'shoot'>>(subject: T): Promise<T> {
    await subject.shoot({ concurrency: 32, limit: { durationMs: warmUpMs } });
    return subject;
  }

  const bench: Bench = {
    options,
    say,
    warm,
    shop: (kind) =>
      once(`the shop, ${kind}`, async () =>
        warm(await openShop({ project: `bench-${kind}`, ...KINDS[kind] }, await loadTool())),
      ),
    databases: () => once('the databases of the floor', () => openServer('bench-floor')),
    floor: () => once('the SQL floor', async () => warm(await openFloor(await bench.databases()))),
    chain: () => once('the empty chain', async () => warm(await openChain(await loadTool()))),
    async closeAll() {
      const open = stack;
      stack = new AsyncDisposableStack();
      opened.clear();
      await open.disposeAsync();
    },
    [Symbol.asyncDispose]: () => bench.closeAll(),
  };
  return bench;
}
