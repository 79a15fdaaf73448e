import { cpus, loadavg, release, totalmem } from 'node:os';
import { describeTarget, isMet, type Section, type Target } from './section.ts';

/** One finished group of rows. */
export interface Finished extends Section {
  readonly key: string;
  readonly title: string;
}

export interface Machine {
  readonly cpus: string;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Load average of the last minute before the run. */
  readonly load1: number;
}

export function describeMachine(): Machine {
  return {
    cpus: `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${release()}`,
    node: process.version,
    load1: loadavg()[0] as number,
  };
}

export interface Run {
  readonly machine: Machine;
  /** Version of the server that `up` chooses. */
  readonly postgres: string;
  readonly rounds: number;
  readonly quick: boolean;
}

/** A group as Markdown: its table, its targets, its notes, and where and how it was measured. */
export function toMarkdown(
  { title, headers, rows, targets, notes }: Finished,
  { machine, postgres, rounds, quick }: Run,
): string {
  const { cpus, memoryGb, system, node, load1 } = machine;
  const place = `${cpus}, ${memoryGb} GB, ${system}, Node ${node}, PostgreSQL ${postgres}, load before ${load1.toFixed(1)}, ${rounds} round(s)`;
  const bullets = [...targets.map(describeTarget), ...notes].map((line) => `- ${line}`);
  return [
    `### ${title}`,
    '',
    `${place}${quick ? ', quick: shows that it runs, and no more' : ''}`,
    '',
    table(headers, rows),
    ...(bullets.length === 0 ? [] : ['', ...bullets]),
  ].join('\n');
}

function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(headers), line(headers.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Targets that were missed. */
export function missed(finished: readonly Finished[]): readonly Target[] {
  return finished.flatMap(({ targets }) => targets.filter((target) => !isMet(target)));
}

/**
 * `page` with the text between a group's markers (`<!-- bench:KEY -->` and `<!-- /bench:KEY -->`) replaced. Throws when
 * the page has no such markers.
 */
export function replaceSection(page: string, key: string, text: string): string {
  const [open, close] = [`<!-- bench:${key} -->`, `<!-- /bench:${key} -->`];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`the page has no place for group ${key}: ${open} ... ${close}`);
  return `${page.slice(0, from + open.length)}\n\n${text}\n\n${page.slice(to)}`;
}
