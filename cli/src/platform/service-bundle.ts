import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The file name of a service's bundle. A release of an early commit is an ES module. */
export function bundleName(service: string, isThere: (file: string) => boolean): string {
  const [script, module] = [`${service}.cjs`, `${service}.mjs`] as const;
  return isThere(module) && !isThere(script) ? module : script;
}

/** Where the bundle of a service is, or should be, in a folder. */
export function bundleIn(folder: string, service: string): string {
  return join(
    folder,
    bundleName(service, (file) => existsSync(join(folder, file))),
  );
}

/** Whether Node has to load it: only a script can be run with its compiled code. */
export const isModule = (bundle: string) => bundle.endsWith('.mjs');
