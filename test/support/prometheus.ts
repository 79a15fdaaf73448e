/** Prometheus and promtool for tests that need the real ones. */

import { prometheusProviders } from '../../cli/src/providers/prometheus.ts';
import { installComponent } from '../../cli/src/providers/resolve.ts';
import { findTool } from '../../cli/src/providers/resolve-tool.ts';
import { aContext, sharedCacheDir } from '../../cli/src/providers/testing.ts';

/** Those that take seconds; a build with Go takes minutes, and is for who asks for it. */
const QUICK = ['release', 'packages'] as const;

/**
 * True when Prometheus and promtool are here, in the user's own cache at the latest after this. Otherwise why not is printed:
 * the tests are skipped.
 */
export async function havePrometheus(): Promise<boolean> {
  await using context = await aContext({ cacheDir: sharedCacheDir() });
  const isHere = async () => {
    const ways = await Promise.all(prometheusProviders(context).map((way) => way.check()));
    return ways.some(({ available }) => available) && (await findTool('promtool', context)) !== undefined;
  };
  const reasons: string[] = [];
  for (const forced of QUICK) {
    if (await isHere()) return true;
    await installComponent('prometheus', context, () => undefined, { forced }).catch((error: Error) => {
      reasons.push((error as { why?: string }).why ?? error.message);
    });
  }
  if (await isHere()) return true;
  process.stderr.write(`skipped: Prometheus is not here ("shopctl setup --with prometheus")\n${reasons.join('\n')}\n`);
  return false;
}
