/** The library that shifts the clocks of services, for files that test such a fault. */
import { findLibfaketime } from '../../../cli/src/chaos/libfaketime.ts';
import { installTool } from '../../../cli/src/providers/resolve-tool.ts';
import { sharedCacheDir } from '../../../cli/src/providers/testing.ts';

const tools = { cacheDir: sharedCacheDir(), env: process.env };
await installTool('libfaketime', tools, () => undefined).catch((error: Error & { why?: string }) => {
  console.warn(`a clock that is wrong is not tested: ${error.message}\n${error.why ?? ''}`);
});

/** Its path; undefined where it can be neither found nor built, which was printed. */
export const libfaketime = await findLibfaketime(tools);

/** With this in its environment, `up` has a platform whose clocks can be shifted. */
export const libfaketimeEnv: Readonly<Record<string, string>> =
  libfaketime === undefined ? {} : { SHOPCTL_LIBFAKETIME: libfaketime };
