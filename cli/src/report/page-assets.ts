import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, messageOf } from '../errors.ts';
import { cloneRoot } from '../platform/project.ts';

/** What is put into every report: script and style of `page/`, bundled by scripts/build.mjs. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/** Throws CliError when they were never built. */
export function readPageAssets(folder = join(cloneRoot(), 'dist/report')): PageAssets {
  try {
    return {
      script: readFileSync(join(folder, 'page.js'), 'utf8'),
      style: readFileSync(join(folder, 'page-style.css'), 'utf8'),
    };
  } catch (cause) {
    throw new CliError({
      code: 'build_incomplete',
      what: 'cannot make the HTML report: the parts of its page are missing',
      why: messageOf(cause),
      next: 'build them with "npm run build"',
      cause,
    });
  }
}
