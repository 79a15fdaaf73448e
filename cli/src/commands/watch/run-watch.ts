import { createChaosClient } from '../../chaos/chaos-client.ts';
import { remaining } from '../../chaos/render.ts';
import type { CommandDeps } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { createStyle } from '../../output/style.ts';
import { type MaybeTerminal, terminalOf } from '../../output/terminal.ts';
import { ringText } from '../../pager/ring.ts';
import type { PlatformEvent } from '../../platform/events.ts';
import type { ProjectOptions } from '../../platform/project.ts';
import { startFeed } from '../../watch/feed/feed.ts';
import { createPerformer, type Performer } from '../../watch/feed/perform.ts';
import { initialModel, type WatchModel } from '../../watch/model/model.ts';
import { createStore } from '../../watch/store.ts';
import { guardTerminal } from '../../watch/terminal-guard.ts';
import { showScreen } from '../../watch/views/show-screen.ts';

/**
 * `shopctl watch`. Throws CliError: 2 without a terminal, 4 when the platform is not running, 6 when it is dirty. A
 * platform that ends later is waited for.
 */
export async function runWatch(options: ProjectOptions, deps: CommandDeps): Promise<void> {
  const { stdin, stdout } = process;
  requireTerminal({ stdin, stdout, env: deps.env });
  const project = deps.projectFrom(options);
  await deps.connect(project);

  const startedAt = new Date().toISOString();
  const guard = await guardTerminal();
  let performer: Performer | undefined;
  const quit = Promise.withResolvers<void>();
  const store = createStore(initialModel(project.name, Date.now()), (effect) => {
    if (effect.type === 'quit') quit.resolve();
    else performer?.perform(effect);
  });
  const style = createStyle({ enabled: terminalOf(stdout, deps.env).colors });
  const screen = showScreen({ store, style, stdin, stdout, onInterrupt: () => process.kill(process.pid, 'SIGINT') });
  const feed = startFeed({
    project,
    connect: deps.connect,
    dispatch(message) {
      store.dispatch(message);
      if (message.type === 'event' && isNewPage(message.event, startedAt)) {
        stdout.write(ringText(message.event.subject, message.event.message));
      }
    },
  });
  performer = createPerformer({ feed, chaos: createChaosClient(project), dispatch: store.dispatch });

  // Everything that ends this process comes by here, or by the guard.
  const restoreTerminal = async () => {
    try {
      await screen.end();
    } finally {
      guard.dismiss();
    }
  };
  deps.onInterrupt(restoreTerminal);
  process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  // A defect of ours is reported on the screen that stays.
  const defect = Promise.withResolvers<never>();
  process.once('uncaughtException', defect.reject);
  try {
    await Promise.race([quit.promise, screen.ended, defect.promise]);
  } finally {
    await restoreTerminal();
    process.off('uncaughtException', defect.reject);
    performer.end();
  }
  reportFaults(store.shown(), deps);
  await feed.end();
}

/** A follower gets the recent events too: those do not ring again. */
function isNewPage({ type, time }: PlatformEvent, startedAt: string): boolean {
  return (type === 'pager.notified' || type === 'pager.escalated') && time > startedAt;
}

function requireTerminal({
  stdin,
  stdout,
  env,
}: {
  stdin: MaybeTerminal;
  stdout: MaybeTerminal;
  env: NodeJS.ProcessEnv;
}): void {
  const why =
    stdout.isTTY !== true
      ? 'its output does not go to one'
      : stdin.isTTY !== true
        ? 'its input does not come from one'
        : env.TERM === 'dumb'
          ? 'TERM=dumb says that this one cannot move its cursor'
          : undefined;
  if (why === undefined) return;
  throw new CliError({
    code: 'terminal_required',
    what: 'watch needs a terminal',
    why,
    next: '"shopctl counters" prints the same figures line by line, with --json for programs; "shopctl status" shows the services',
  });
}

/** Faults do not end with this command; a user who leaves should know. */
function reportFaults({ faults }: WatchModel, { output }: CommandDeps): void {
  for (const lease of faults) {
    const end = lease.status === 'undo_failed' ? 'undo failed' : `ends in ${remaining(lease)}`;
    output.note(`still active: ${lease.target} ${lease.fault}, ${end} ("shopctl chaos clear ${lease.id}" ends it)`);
  }
}
