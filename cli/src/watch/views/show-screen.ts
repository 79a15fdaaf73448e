import { type Key as InkKey, render, useInput, useWindowSize } from 'ink';
import { createElement as h, useEffect, useSyncExternalStore } from 'react';
import type { Style } from '../../output/style.ts';
import type { Store } from '../store.ts';
import { keysOf } from './keys-of.ts';
import { Screen } from './screen.ts';

/**
 * The second screen, from its upper left corner on. Ink's own option begins where the cursor stands, so that a prompt
 * without a separate line would push the first line aside.
 */
const ENTER = '\u001b[?1049h\u001b[H';
const LEAVE = '\u001b[?1049l';
const ERASE = '\u001b[2J\u001b[H';

export interface ScreenOptions {
  readonly store: Store;
  readonly style: Style;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  /** Ctrl-C, which is a key while a program reads single ones. */
  onInterrupt(): void;
}

export interface ShownScreen {
  /** Resolves when the screen was left; rejects when it could not be drawn. */
  readonly ended: Promise<unknown>;
  /** Gives the terminal back as it was: its screen, its cursor, its modes. Idempotent. */
  end(): Promise<void>;
}

/** Takes the whole terminal and draws the model on it, until `end`. */
export function showScreen({ store, style, stdin, stdout, onInterrupt }: ScreenOptions): ShownScreen {
  const onKeys = (input: string, key: InkKey) => {
    if (key.ctrl && input === 'c') return onInterrupt();
    for (const one of keysOf(input, key)) store.dispatch({ type: 'key', key: one });
  };
  const onRows = (rows: number) => store.dispatch({ type: 'resized', rows });
  stdout.write(ENTER);
  const ink = render(h(App, { store, style, onKeys, onRows }), {
    stdin,
    stdout,
    // That it is a terminal was found out before; in CI it is one too when a user asks for this.
    interactive: true,
    // Only what changed is written: nothing flickers.
    incrementalRendering: true,
    exitOnCtrlC: false,
  });
  // A terminal that gets wider or narrower moves the lines that it has wrapped, so that what Ink writes over them mixes two frames.
  let isResized = false;
  const redraw = () => {
    isResized = true;
    ink.clear();
    stdout.write(ERASE);
  };
  stdout.prependListener('resize', redraw);
  // Node reports no resize to the size that it knows. A terminal that became narrower and wider meanwhile has cut or wrapped lines.
  const onSizeSignal = () => {
    if (!isResized) stdout.emit('resize');
    isResized = false;
  };
  process.on('SIGWINCH', onSizeSignal);
  const ended = ink.waitUntilExit();
  // What Ink writes at its end belongs on the second screen still.
  const leave = () => {
    process.off('exit', leave);
    process.off('SIGWINCH', onSizeSignal);
    stdout.off('resize', redraw);
    ink.unmount();
    stdout.write(LEAVE);
  };
  process.once('exit', leave);
  let left: Promise<unknown> | undefined;
  return {
    ended,
    async end() {
      if (left === undefined) {
        leave();
        left = ended;
      }
      await left;
    },
  };
}

interface AppProps {
  readonly store: Store;
  readonly style: Style;
  onKeys(input: string, key: InkKey): void;
  onRows(rows: number): void;
}

function App({ store, style, onKeys, onRows }: AppProps) {
  const model = useSyncExternalStore(store.subscribe, store.shown);
  const { columns, rows } = useWindowSize();
  useInput(onKeys);
  useEffect(() => onRows(rows), [onRows, rows]);
  return h(Screen, { model, columns, rows, style });
}
