import { globSync, readFileSync } from 'node:fs';

/** What a page quotes in its text: messages of programs. */
export function quotedMessagesOf(markdown: string): readonly string[] {
  const text = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]+`/g, '');
  return [...new Set([...text.matchAll(/"([^"]+)"/g)].map(([, message = '']) => message))];
}

/** What of a message no source has: `...` stands for what a program inserts. */
export function unknownPartsOf(message: string, sources: string): readonly string[] {
  const parts = message.split('...').map((part) => part.trim());
  return parts.filter((part) => part.length > 1 && !sources.includes(part));
}

/** The sources of programs that match, without their tests. */
export function sourcesOf(root: string, pattern: string): string {
  return globSync(pattern, { cwd: root })
    .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
    .map((path) => readFileSync(`${root}/${path}`, 'utf8'))
    .join('\n');
}
