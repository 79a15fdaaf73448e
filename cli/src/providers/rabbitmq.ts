import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasApt } from './apt.ts';
import type { ComponentContext, Launch, Provider, ProviderKind } from './component.ts';
import { dockerProvider } from './docker.ts';
import { available, installable, nothing, unavailable } from './provider-checks.ts';
import { brokerFiles, linkApplications, writeBrokerFiles } from './rabbitmq/configuration.ts';
import { killEpmd } from './rabbitmq/epmd.ts';
import { findInstalledRabbitMq, newestErlCall, type RabbitMqLayout } from './rabbitmq/layout.ts';
import { findPackagedRabbitMq, unpackRabbitMq } from './rabbitmq/packages.ts';
import { amqpProbe } from './rabbitmq/probe.ts';
import { directSpec, directStartObstacle, scriptSpec } from './rabbitmq/process.ts';

/** Ways to have RabbitMQ, in the order in which they are tried. */
export function rabbitmqProviders(context: ComponentContext): readonly Provider[] {
  return [
    urlProvider(context),
    installedProvider(context),
    dockerProvider('rabbitmq', context),
    packagesProvider(context),
  ];
}

/** A broker that is not ours. Its accounts and virtual host are those of the URL. */
function urlProvider(context: ComponentContext): Provider {
  const url = context.env.SHOPCTL_RABBITMQ_URL;
  return {
    kind: 'url',
    check: async () =>
      url ? available('url', 'SHOPCTL_RABBITMQ_URL is set') : unavailable('url', 'SHOPCTL_RABBITMQ_URL is not set'),
    launch: async () => launchUrl(new URL(url ?? '')),
  };
}

function launchUrl(url: URL): Launch {
  const address = { host: url.hostname, port: Number(url.port || 5672) };
  return {
    component: 'rabbitmq',
    kind: 'url',
    detail: `RabbitMQ at ${address.host}:${address.port} (SHOPCTL_RABBITMQ_URL)`,
    run: { type: 'external' },
    address,
    info: {},
    externalUrl: url.href,
    prepare: nothing,
    probe: amqpProbe(address),
    setUp: nothing,
    cleanUp: nothing,
  };
}

function installedProvider(context: ComponentContext): Provider {
  return {
    kind: 'installed',
    async check() {
      const found = await findInstalledRabbitMq(context.env);
      if (typeof found !== 'string') return available('installed', `RabbitMQ ${found.version} in ${found.home}`);
      return unavailable('installed', `${found}; install it: ${installCommand()}`);
    },
    launch: async () => launchFound(context, 'installed', await findInstalledRabbitMq(context.env)),
  };
}

/** The distribution's packages, unpacked into the cache directory by an ordinary user. */
function packagesProvider(context: ComponentContext): Provider {
  return {
    kind: 'packages',
    async check() {
      const found = await findPackagedRabbitMq(context.cacheDir);
      if (typeof found !== 'string')
        return available('packages', `RabbitMQ ${found.version} unpacked in ${context.cacheDir}`);
      if (await hasApt(context.env))
        return installable('packages', 'can be unpacked from apt packages without root (32 MB)');
      return unavailable('packages', `no apt here; install RabbitMQ: ${installCommand()}`);
    },
    launch: async () => launchFound(context, 'packages', await findPackagedRabbitMq(context.cacheDir)),
    install: (onProgress, signal) => unpackRabbitMq(context, onProgress, signal),
  };
}

function installCommand(): string {
  if (process.platform === 'darwin') return '"brew install rabbitmq"';
  if (existsSync('/usr/bin/dnf')) return '"sudo dnf install rabbitmq-server"';
  if (existsSync('/usr/bin/apt-get')) return '"sudo apt-get install rabbitmq-server"';
  return 'see rabbitmq.com/docs/download';
}

async function launchFound(
  context: ComponentContext,
  kind: ProviderKind,
  layout: RabbitMqLayout | string,
): Promise<Launch> {
  if (typeof layout === 'string') throw new Error(layout);
  const obstacle =
    context.env.SHOPCTL_RABBITMQ_START === 'script'
      ? 'SHOPCTL_RABBITMQ_START=script'
      : await directStartObstacle(layout);
  const isDirect = obstacle === undefined;
  const [amqp = 0, distribution = 0, epmd = 0] = await context.ports.reserve('rabbitmq', 3);
  const ports = { amqp, distribution, epmd };
  const files = brokerFiles(join(context.stateDir, 'data', 'rabbitmq'));
  const node = `${context.project}@localhost`;
  const broker = { layout, files, ports, node, logFile: context.logFile('rabbitmq') };
  const address = { host: '127.0.0.1', port: amqp };
  const erlCall = await newestErlCall(layout);
  return {
    component: 'rabbitmq',
    kind,
    detail: `RabbitMQ ${layout.version} from ${layout.home}${isDirect ? '' : ` by its own script (${obstacle})`}`,
    run: { type: 'process', spec: isDirect ? directSpec(broker) : scriptSpec(broker) },
    address,
    info: {
      ...(erlCall !== undefined && { erlCall }),
      ...{ home: files.home, node, distributionPort: distribution },
      ...(!isDirect && { epmdPort: epmd }),
    },
    async prepare() {
      await writeBrokerFiles(files, amqp, context.secrets);
      if (isDirect) await linkApplications(files.applications, join(layout.home, 'plugins'));
    },
    probe: amqpProbe(address),
    setUp: nothing, // Users, virtual host and permissions are definitions, applied before the port opens.
    // RabbitMQ keeps one running, which outlives it.
    cleanUp: () => killEpmd(epmd),
  };
}
