import { CliError, messageOf, toCliError } from '../errors.ts';
import type { EditEvent } from './edit-events.ts';
import type { TypeProblem } from './type-errors.ts';

/** What did not compile of a target, as text with its frame; otherwise the files of dist/ whose content changed. */
export interface RebuiltTarget {
  readonly name: string;
  readonly changed: readonly string[];
  readonly problem?: string;
}

/** What the loop acts through. */
export interface EditTools {
  /** Targets of the build that may hold a file, by its path in the clone. */
  targetsOf(file: string): readonly string[];
  rebuild(targets: readonly string[]): Promise<readonly RebuiltTarget[]>;
  /** Lets the platform take what changed; throws CliError when it does not. */
  apply(emit: (instance: string, message: string) => void): Promise<{
    readonly started: readonly string[];
    readonly applied: readonly string[];
  }>;
  /** Absent where types cannot be checked. */
  readonly checkTypes?: (signal: AbortSignal) => Promise<readonly TypeProblem[]>;
  emit(event: EditEvent): void;
}

export interface EditLoop {
  /**
   * Builds these targets once, so that the first save is as fast as the others. What was saved since the platform was built
   * is brought by it; what is saved meanwhile comes afterwards. Called before anything is saved. Resolves when that is done.
   */
  begin(targets: readonly string[]): Promise<void>;
  /** Files that were saved, by their paths in the clone. */
  saved(files: readonly string[]): void;
  /** Resolves when nothing is in progress and no save waits. */
  settled(): Promise<void>;
  /** Takes no more saves; resolves when what was in progress has ended. */
  end(): Promise<void>;
}

/**
 * From a save to the running code: builds what the files belong to and lets the platform take it. One save after the other;
 * those that come meanwhile are one. What does not compile, and what is refused, leaves everything as it runs. Types are
 * checked beside it, from the latest save only.
 */
export function createEditLoop(tools: EditTools): EditLoop {
  const { emit } = tools;
  const over = new AbortController();
  const waiting = new Set<string>();
  let since = 0;
  let current: Promise<void> | undefined;
  let types: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  let lastTypes = '[]';
  /** Of a save whose new code or migration the platform has not taken: the next one brings it too. */
  let isOwed = false;

  /** Resolves with whether new code was built. */
  async function rebuild(targets: readonly string[], isFirst = false): Promise<boolean> {
    if (targets.length === 0) return false;
    const began = performance.now();
    const results = await tools.rebuild(targets);
    for (const [problem, failed] of Map.groupBy(results, (result) => result.problem)) {
      if (problem === undefined) continue;
      emit({ type: 'build_failed', targets: failed.map(({ name }) => name), problem });
    }
    if (results.every(({ problem }) => problem !== undefined)) return false;
    const changed = results.filter((result) => result.changed.some((file) => !file.endsWith('.map')));
    if (changed.length > 0 || !isFirst) {
      emit({ type: 'built', changed: changed.map(({ name }) => name), tookMs: performance.now() - began });
    }
    return changed.length > 0;
  }

  async function bring(files: readonly string[], savedAt: number): Promise<void> {
    emit({ type: 'saved', files });
    const sources = files.filter((file) => !isTest(file));
    const isBuilt = await rebuild([...new Set(sources.flatMap((file) => tools.targetsOf(file)))]);
    isOwed ||= isBuilt || files.some(isMigration);
    await applyOwed(savedAt);
  }

  async function applyOwed(savedAt: number): Promise<void> {
    if (isOwed && !over.signal.aborted) {
      const done = await tools.apply((instance, message) => emit({ type: 'instance', instance, message }));
      isOwed = false;
      if (done.started.length + done.applied.length > 0) {
        emit({ type: 'applied', ...done, tookMs: performance.now() - savedAt });
      }
    }
  }

  async function bringFirst(targets: readonly string[]): Promise<void> {
    const began = performance.now();
    await rebuild(targets, true);
    // Also a migration may have been saved meanwhile, which no build shows.
    isOwed = true;
    await applyOwed(began);
  }

  async function report(bringing: Promise<void>): Promise<void> {
    await bringing.catch((error: unknown) => {
      if (!over.signal.aborted) emit({ type: 'refused', error: toCliError(error) });
    });
  }

  async function work(): Promise<void> {
    while (waiting.size > 0 && !over.signal.aborted) {
      const files = [...waiting].toSorted();
      waiting.clear();
      await report(bring(files, since));
      if (files.some((file) => file.endsWith('.ts'))) checkTypes();
    }
  }

  function checkTypes(): void {
    types?.stop.abort();
    if (tools.checkTypes === undefined || over.signal.aborted) return;
    const stop = new AbortController();
    const check = tools.checkTypes(AbortSignal.any([stop.signal, over.signal]));
    const done = check.then(
      (errors) => {
        // Said again only when they are others.
        const key = JSON.stringify(errors);
        if (key !== lastTypes) emit({ type: 'types', errors });
        lastTypes = key;
      },
      (error: unknown) => {
        if (!stop.signal.aborted && !over.signal.aborted) emit({ type: 'types_unknown', reason: messageOf(error) });
      },
    );
    types = { stop, done };
  }

  function start(task = work()): void {
    current = task.finally(() => {
      current = undefined;
      if (waiting.size > 0 && !over.signal.aborted) start();
    });
  }

  const settled = async () => {
    while (current !== undefined) await current;
    await types?.done;
  };
  checkTypes();
  return {
    async begin(targets) {
      start(report(bringFirst(targets)));
      await current;
    },
    saved(files) {
      if (over.signal.aborted) return;
      if (waiting.size === 0) since = performance.now();
      for (const file of files) waiting.add(file);
      if (current === undefined) start();
    },
    settled,
    async end() {
      over.abort(new CliError({ code: 'start_cancelled', what: 'the watching was ended' }));
      await settled();
    },
  };
}

function isTest(file: string): boolean {
  return /\.test\.ts$/.test(file);
}

function isMigration(file: string): boolean {
  return /^migrations\/[^/]+\/[^/]+\.sql$/.test(file);
}
