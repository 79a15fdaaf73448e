import { setTimeout as delay } from 'node:timers/promises';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { Style } from '../../output/style.ts';
import { type LogCursor, type LogLine, logFiles, openLog } from '../../platform/log-reader.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { serviceNames } from '../../topology/services.ts';

export interface LogsOptions extends CommonOptions {
  readonly follow?: boolean;
  /** Lines. */
  readonly tail?: number;
  /** ms since the epoch. */
  readonly since?: number;
  readonly trace?: string;
  /** Absent: as stdout says. */
  readonly pretty?: boolean;
}

const DEFAULT_LINES = 100;
const LOOK_EVERY_MS = 100;

/** `shopctl logs`. */
export async function runLogs(services: readonly string[], options: LogsOptions, deps: CommandDeps): Promise<void> {
  const { output, signal } = deps;
  const { logDir } = deps.projectFrom(options);
  const cursors = new Map<string, LogCursor>();
  const isPretty = options.pretty ?? output.isTerminal;
  const show = (line: LogLine, width: number) => {
    const document = jsonOf(line);
    output.record(document, () => (isPretty ? formatLine(line, output.style, width) : JSON.stringify(document)));
  };
  const read = async () => {
    // Instances that start while we follow have new files.
    for (const name of await logFiles(logDir, services))
      if (!cursors.has(name)) cursors.set(name, openLog(logDir, name));
    const lines = (await Promise.all([...cursors.values()].map((cursor) => cursor.read()))).flat();
    return lines.filter((line) => isWanted(line, options)).sort((a, b) => a.timeMs - b.timeMs);
  };
  await checkNames(logDir, services);
  const width = () => Math.max(8, ...[...cursors.keys()].map((name) => name.length));
  const first = await read();
  const count =
    options.tail ?? (options.since === undefined && options.trace === undefined ? DEFAULT_LINES : undefined);
  for (const line of count === undefined ? first : count === 0 ? [] : first.slice(-count)) show(line, width());
  while (options.follow && !signal.aborted) {
    await delay(LOOK_EVERY_MS);
    for (const line of await read()) show(line, width());
  }
}

async function checkNames(logDir: string, names: readonly string[]): Promise<void> {
  const known = [...new Set([...serviceNames, ...(await logFiles(logDir, []))])];
  for (const name of names) if (!known.includes(name)) throw unknownService(name, known);
}

function isWanted({ record, timeMs }: LogLine, { since, trace }: LogsOptions): boolean {
  if (since !== undefined && timeMs < since) return false;
  return trace === undefined || String(record?.trace_id ?? '').startsWith(trace.toLowerCase());
}

/** A record as it was logged; a line of text in the same shape, with the instance it came from. */
function jsonOf({ instance, record, text, timeMs }: LogLine): unknown {
  return record ?? { time: timeMs > 0 ? new Date(timeMs).toISOString() : null, instance, msg: text };
}

const prefixColors = ['cyan', 'green', 'magenta', 'blue', 'yellow'] as const;

function formatLine({ instance, record, text, timeMs }: LogLine, style: Style, width: number): string {
  const color =
    prefixColors[[...instance].reduce((sum, char) => sum + char.charCodeAt(0), 0) % prefixColors.length] ?? 'cyan';
  const prefix = style[color](instance.padEnd(width));
  if (!record) return `${prefix} ${text}`;
  const { level, msg, time: _time, service: _service, instance: _instance, ...rest } = record;
  const clock = style.dim(new Date(timeMs).toISOString().slice(11, 23));
  return `${prefix} ${clock} ${paintLevel(String(level), style)} ${msg ?? ''}${formatFields(rest, style)}`;
}

function paintLevel(level: string, style: Style): string {
  const word = level.toUpperCase().padEnd(5);
  if (level === 'error' || level === 'fatal') return style.red(word);
  return level === 'warn' ? style.yellow(word) : style.dim(word);
}

function formatFields(fields: Readonly<Record<string, unknown>>, style: Style): string {
  const entries = Object.entries(fields).filter(([name]) => name !== 'span_id');
  const text = entries
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  return text === '' ? '' : ` ${style.dim(text)}`;
}
