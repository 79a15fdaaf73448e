import { join } from 'node:path';
import type { ComponentContext, Provider } from './component.ts';
import { dockerProvider } from './docker.ts';
import { jaegerConfig } from './jaeger-config.ts';
import { writePrivateFile } from './private-file.ts';
import { type Program, programProviders } from './program-providers.ts';
import { jaegerRelease } from './release/releases.ts';

/** The module path has no `/v2`, so this tag's `cmd/jaeger` is how Jaeger 2 is available from the module proxy. */
const JAEGER_VERSION = 'v1.76.0';

const jaeger: Program = {
  component: 'jaeger',
  title: 'Jaeger',
  urlVariable: 'SHOPCTL_JAEGER_URL',
  command: 'jaeger',
  readyPath: '/api/v3/services',
  release: jaegerRelease,
  go: { modulePath: 'github.com/jaegertracing/jaeger', mainPackage: 'cmd/jaeger', version: JAEGER_VERSION },
  buildTime: 'several minutes; the built-in trace store serves until then',
  async plan({ ports, stateDir }, command) {
    const [query = 0, otlp = 0, grpc = 0] = await ports.reserve('jaeger', 3);
    const config = join(stateDir, 'data', 'jaeger', 'config.json');
    return {
      address: { host: '127.0.0.1', port: query },
      info: { otlpPort: otlp },
      spec: {
        command,
        args: [`--config=${config}`],
        env: { PATH: '/usr/bin:/bin' },
        cwd: stateDir,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 5_000,
      },
      prepare: () => writePrivateFile(config, jaegerConfig({ host: '127.0.0.1', query, otlp, grpc })),
    };
  },
};

/** Ways to have Jaeger, in the order in which they are tried. */
export function jaegerProviders(context: ComponentContext): readonly Provider[] {
  return programProviders(jaeger, context, dockerProvider('jaeger', context));
}
