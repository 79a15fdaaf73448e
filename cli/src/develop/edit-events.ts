import type { CliError } from '../errors.ts';
import type { Style } from '../output/style.ts';
import { formatDuration } from '../shared/duration.ts';
import type { TypeProblem } from './type-errors.ts';

/** What `up --watch` reports: one line of JSON each with --json. */
export type EditEvent =
  | { readonly type: 'watching'; readonly folders: readonly string[]; readonly endsPlatform: boolean }
  | { readonly type: 'saved'; readonly files: readonly string[] }
  | { readonly type: 'built'; readonly changed: readonly string[]; readonly tookMs: number }
  | { readonly type: 'build_failed'; readonly targets: readonly string[]; readonly problem: string }
  | { readonly type: 'instance'; readonly instance: string; readonly message: string }
  | {
      readonly type: 'applied';
      readonly started: readonly string[];
      readonly applied: readonly string[];
      /** Since the save. */
      readonly tookMs: number;
    }
  | { readonly type: 'refused'; readonly error: CliError }
  | { readonly type: 'types'; readonly errors: readonly TypeProblem[] }
  | { readonly type: 'types_unknown'; readonly reason: string };

/** So many errors of types are printed; the others are counted. */
const SHOWN_ERRORS = 10;

/** An event for people. Pure. */
export function describeEvent(event: EditEvent, style: Style): string {
  switch (event.type) {
    case 'watching':
      return `watching ${event.folders.join(', ')}; Ctrl-C ends it${event.endsPlatform ? ' and the platform' : ', the platform goes on'}`;
    case 'saved':
      return style.dim(`saved ${event.files.join(', ')}`);
    case 'built':
      return event.changed.length === 0
        ? `built in ${formatDuration(event.tookMs)}: nothing that runs has changed`
        : `built ${event.changed.join(', ')} in ${formatDuration(event.tookMs)}`;
    case 'build_failed':
      return `${style.red('not built:')} ${event.targets.join(', ')}; what was built before goes on running\n${event.problem}`;
    case 'instance':
      return `${event.instance}: ${event.message}`;
    case 'applied':
      return `${style.green('running')} ${[...event.started, ...event.applied].join(', ')}, ${formatDuration(event.tookMs)} after the save`;
    case 'refused':
      return `${style.red('refused:')} ${event.error.what}\n  ${[event.error.why, event.error.next].filter(Boolean).join('\n  ')}`;
    case 'types':
      return describeTypes(event.errors, style);
    case 'types_unknown':
      return `types are not checked: ${event.reason}`;
  }
}

function describeTypes(errors: readonly TypeProblem[], style: Style): string {
  if (errors.length === 0) return 'types: no errors';
  const lines = errors
    .slice(0, SHOWN_ERRORS)
    .map(({ file, line, column, code, message }) => `  ${file}:${line}:${column} ${code} ${message}`);
  const more = errors.length > SHOWN_ERRORS ? [`  and ${errors.length - SHOWN_ERRORS} more`] : [];
  return [
    `${style.yellow('types:')} ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`,
    ...lines,
    ...more,
  ].join('\n');
}
