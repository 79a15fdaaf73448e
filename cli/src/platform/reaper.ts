import { type ChildProcess, spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';
import type { ChildRegistry } from './component-unit.ts';
import { reaperScript } from './reaper-script.ts';

/** Ensures that no child outlives the supervisor, however the supervisor ends. */
export interface Reaper {
  readonly registry: ChildRegistry;
  /** The reaper's process; it changes when it was killed and replaced. */
  identity(): ProcessIdentity | undefined;
  /** Children started and not yet ended. */
  children(): readonly ProcessIdentity[];
  /** Everything has been stopped: the reaper ends without doing anything. */
  dismiss(): Promise<void>;
}

export interface ReaperOptions {
  /** Where the list of children is kept for the reaper to read. */
  readonly listFile: string;
  readonly mark: string;
  /** Run when the supervisor is gone and `record` exists: ends the containers, which are not child processes. */
  readonly containers?: { readonly record: string; readonly command: readonly string[] };
  readonly onReplaced: (identity: ProcessIdentity | undefined) => void;
}

/** Pause before a killed reaper is replaced, so that one that cannot start does not keep the CPU busy. */
const REPLACE_AFTER_MS = 100;

/** Starts the reaper in a separate session. Its output goes where ours goes. */
export async function startReaper({ listFile, mark, containers, onReplaced }: ReaperOptions): Promise<Reaper> {
  const children = new Map<number, { identity: ProcessIdentity; stopSignal: NodeJS.Signals }>();
  let current: { child: ChildProcess; identity: ProcessIdentity | undefined };
  let dismissed = false;

  // Synchronous: between a child's start and this line nothing else of ours runs.
  const writeList = () => {
    const lines = [...children.values()].map(
      ({ identity: { pid, startTime, bootId }, stopSignal }) =>
        `${[pid, startTime, stopSignal.replace('SIG', ''), ...(bootId === undefined ? [] : [bootId])].join(' ')}\n`,
    );
    writeFileSync(`${listFile}.tmp`, lines.join(''), { mode: 0o600 });
    renameSync(`${listFile}.tmp`, listFile);
  };
  const launch = async () => {
    const args = [listFile, mark, containers?.record ?? '', ...(containers?.command ?? [])];
    const child = spawn('/bin/sh', ['-c', reaperScript, 'shopctl-reaper', ...args], {
      detached: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    });
    child.on('error', (error) => console.error(`reaper: ${error.message}`));
    child.stdin?.on('error', () => {});
    child.once('exit', () => void replace());
    current = { child, identity: child.pid === undefined ? undefined : await identifyProcess(child.pid) };
    onReplaced(current.identity);
  };
  const replace = async () => {
    if (dismissed) return;
    console.error('reaper: it ended before the supervisor, starting another');
    await delay(REPLACE_AFTER_MS);
    if (!dismissed) await launch();
  };

  writeList();
  await launch();
  return {
    registry: {
      mark,
      started(identity, stopSignal) {
        children.set(identity.pid, { identity, stopSignal });
        writeList();
      },
      ended({ pid }) {
        children.delete(pid);
        try {
          writeList();
        } catch (error) {
          // A full disk: a line too many does no harm, for no other process has its pid and start time.
          console.error(`reaper: the list of children is out of date: ${messageOf(error)}`);
        }
      },
    },
    identity: () => current.identity,
    children: () => [...children.values()].map(({ identity }) => identity),
    async dismiss() {
      dismissed = true;
      const { child } = current;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin?.end('done\n');
      await ended;
    },
  };
}
