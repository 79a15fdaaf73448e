import { mkdir } from 'node:fs/promises';
import type { ComponentContext, Provider } from './component.ts';
import { dockerProvider } from './docker.ts';
import { type Program, programProviders } from './program-providers.ts';
import { prometheusFiles } from './prometheus/files.ts';
import { prepareFiles, refreshRules } from './prometheus/rules.ts';
import { serverArguments } from './prometheus/server.ts';
import { prometheusPackage, prometheusProgram } from './prometheus/sources.ts';
import { versionObstacle } from './prometheus/version.ts';
import { prometheusRelease } from './release/releases.ts';

const prometheus: Program = {
  component: 'prometheus',
  title: 'Prometheus',
  urlVariable: 'SHOPCTL_PROMETHEUS_URL',
  ...prometheusProgram,
  readyPath: '/-/ready',
  hasPages: true,
  release: prometheusRelease,
  packaged: { ...prometheusPackage, program: 'usr/bin/prometheus' },
  obstacle: versionObstacle,
  async plan(context, command) {
    const { ports, stateDir } = context;
    const [port = 0] = await ports.reserve('prometheus');
    const address = { host: '127.0.0.1', port };
    const url = `http://${address.host}:${port}`;
    const files = prometheusFiles(stateDir);
    return {
      address,
      info: {},
      spec: {
        command,
        args: serverArguments({ configuration: files.configuration, data: files.data, port }),
        env: { PATH: '/usr/bin:/bin' },
        cwd: stateDir,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 10_000,
      },
      async prepare() {
        await mkdir(files.data, { recursive: true, mode: 0o700 });
        await prepareFiles(files, context);
      },
      refresh: () => refreshRules(files, context, url),
    };
  },
};

/** Ways to have Prometheus, in the order in which they are tried. */
export function prometheusProviders(context: ComponentContext): readonly Provider[] {
  return programProviders(prometheus, context, dockerProvider('prometheus', context));
}
