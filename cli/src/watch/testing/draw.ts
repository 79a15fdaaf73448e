import { renderToString } from 'ink';
import { createElement as h } from 'react';
import { createStyle } from '../../output/style.ts';
import type { WatchModel } from '../model/model.ts';
import { Screen } from '../views/screen.ts';

/** The screen as lines of text, in colours when they are asked for. */
export function drawScreen(model: WatchModel, { columns = 80, rows = 24, colours = false } = {}): string[] {
  const style = createStyle({ enabled: colours });
  return renderToString(h(Screen, { model, columns, rows, style }), { columns }).split('\n');
}
