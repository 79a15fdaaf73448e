import type { ComponentContext, Provider } from './component.ts';
import { dockerProvider } from './docker.ts';
import { type Program, programProviders } from './program-providers.ts';
import { nothing } from './provider-checks.ts';
import { toxiproxyRelease } from './release/releases.ts';

/** Version that is downloaded or built; an installed one may be another. */
const TOXIPROXY_VERSION = toxiproxyRelease.version;

const toxiproxy: Program = {
  component: 'toxiproxy',
  title: 'Toxiproxy',
  urlVariable: 'SHOPCTL_TOXIPROXY_URL',
  command: 'toxiproxy-server',
  readyPath: '/version',
  release: toxiproxyRelease,
  go: { modulePath: 'github.com/Shopify/toxiproxy/v2', mainPackage: 'cmd/server', version: TOXIPROXY_VERSION },
  buildTime: 'about half a minute',
  async plan({ ports, stateDir }, command) {
    const [port = 0] = await ports.reserve('toxiproxy');
    return {
      address: { host: '127.0.0.1', port },
      info: {},
      spec: {
        command,
        args: ['-host', '127.0.0.1', '-port', String(port)],
        env: { PATH: '/usr/bin:/bin', LOG_LEVEL: 'warn' },
        cwd: stateDir,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 3_000,
      },
      prepare: nothing,
    };
  },
};

/** Ways to have Toxiproxy, in the order in which they are tried. */
export function toxiproxyProviders(context: ComponentContext): readonly Provider[] {
  return programProviders(toxiproxy, context, dockerProvider('toxiproxy', context));
}
