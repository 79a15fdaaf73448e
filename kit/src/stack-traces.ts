/*
 * Stack traces name files and lines of sources, as with Node's --enable-source-maps. That option reads the map of each file that is
 * loaded and counts the file's lines, which takes an eighth of a service's start and 14 MB. Here a map is read by the first error that
 * asks for it. The build puts this file before each program (decision 0130).
 */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Source {
  readonly map: SourceMap;
  readonly folder: string;
}

/** By the name that a frame has for its file. Undefined: it has no map. */
const sources = new Map<string, Source | undefined>();
const standard = Error.prepareStackTrace;

// https://v8.dev/docs/stack-trace-api: called once for an error, by the first that reads its stack.
Error.prepareStackTrace = (error, frames) => {
  const text = standard?.(error, frames);
  return typeof text === 'string' ? frames.reduce(withSource, text) : text;
};

// Until a program has another handler. Node would print the line that failed, and one line of a bundle has 300 KB.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') > 1) return;
  console.error(error);
  process.exit(1);
});

function withSource(text: string, frame: NodeJS.CallSite): string {
  const name = frame.getFileName();
  const line = frame.getLineNumber();
  const column = frame.getColumnNumber();
  if (!name || line === null || column === null || name.startsWith('node:')) return text;
  const source = sourceOf(name);
  const entry = source?.map.findEntry(line - 1, column - 1);
  // Libraries of a service have no entries.
  if (source === undefined || entry === undefined || !('originalSource' in entry) || !entry.originalSource) return text;
  const path = resolve(source.folder, entry.originalSource);
  return text.replaceAll(
    `${name}:${line}:${column}`,
    () => `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`,
  );
}

function sourceOf(name: string): Source | undefined {
  if (!sources.has(name)) sources.set(name, readSource(name));
  return sources.get(name);
}

function readSource(name: string): Source | undefined {
  try {
    const file = name.startsWith('file:') ? fileURLToPath(name) : name;
    const [, url] = /^\/\/# sourceMappingURL=(\S+)\s*$/m.exec(readFileSync(file, 'utf8')) ?? [];
    if (url === undefined) return undefined;
    const path = resolve(dirname(file), url);
    return { map: new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload), folder: dirname(path) };
  } catch {
    // A map that was removed, or is broken, must not take the place of the error that is described.
    return undefined;
  }
}
