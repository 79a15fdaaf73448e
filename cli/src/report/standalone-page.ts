import { createHash } from 'node:crypto';
import { escapeHtml, type Markup } from './html.ts';

export interface StandalonePage {
  readonly title: string;
  readonly style: string;
  /** None: the page runs no script at all. */
  readonly script?: string;
  readonly body: Markup;
}

/** A page of one file that asks nothing of the network and works from anywhere. */
export function standalonePage({ title, body, ...assets }: StandalonePage): string {
  // Both end with their own element, and both are what the policy's hashes are made of.
  const style = assets.style.replaceAll('</style', '<\\/style');
  const script = assets.script?.replaceAll('</script', '<\\/script');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body.text}${script === undefined ? '' : `\n<script>${script}</script>`}
</body>
</html>
`;
}

/** Nothing may be loaded or sent; only this page's own script and style run, known by their hashes. */
function policyOf(style: string, script: string | undefined): string {
  const none = ['default-src', 'base-uri', 'form-action'].map((name) => `${name} 'none'`);
  const scripts = script === undefined ? [] : [`script-src '${hashOf(script)}'`];
  return [...none, 'img-src data:', ...scripts, `style-src '${hashOf(style)}'`].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
