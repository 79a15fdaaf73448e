import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';

const require = createRequire(import.meta.filename);

/** Loaded by `require`, as the packages that stock uses beside it load it: there is one, with one set of classes. */
export const grpc: typeof import('@grpc/grpc-js') = require('@grpc/grpc-js');

/** Loads `proto/<file>` from the nearest folder above this module that has it; sources and bundles both do. */
export function loadProto(file: string): ReturnType<typeof loadSync> {
  return loadSync(locate(file), { keepCase: false, longs: Number, enums: String, defaults: true, arrays: true });
}

/** Path of `proto/<file>`. Throws when no folder above this module has it. */
export function locate(file: string): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'proto', file);
    if (existsSync(path)) return path;
  }
  throw new Error(`proto/${file} is not in any folder above ${import.meta.dirname}`);
}
