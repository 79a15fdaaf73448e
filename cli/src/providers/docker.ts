import type { ComponentName } from '../topology/components.ts';
import type { Availability, ComponentContext, Launch, Provider } from './component.ts';
import { containerRun } from './docker/container-run.ts';
import { type EngineUrl, engineUrl, openEngine, pingEngine, unlessStatus } from './docker/engine.ts';
import { hostNetworkObstacle } from './docker/host-network.ts';
import { pullImage } from './docker/pull.ts';
import { projectKey, recordInitialised } from './docker/record.ts';
import { containerImages, planContainer } from './docker-plans.ts';
import { available, installable, nothing, unavailable } from './provider-checks.ts';

/**
 * The docker way for one component: a container with fixed host ports on loopback and a named volume. An image that is
 * not here makes it installable, not available: on a machine without a registry the next way is tried.
 */
export function dockerProvider(component: ComponentName, context: ComponentContext): Provider {
  return {
    kind: 'docker',
    check: () => check(component, context),
    launch: () => launch(component, context),
    async install(onProgress) {
      await pullImage(await openEngine(engineUrl(context.env)), containerImages[component], onProgress);
    },
  };
}

/** They connect to processes of this machine: a proxy stands between them, Prometheus scrapes the supervisor. */
const amongProcesses: readonly ComponentName[] = ['toxiproxy', 'prometheus'];

async function check(component: ComponentName, { env }: ComponentContext): Promise<Availability> {
  const image = containerImages[component];
  let url: EngineUrl;
  try {
    url = engineUrl(env);
    await pingEngine(url);
  } catch (error) {
    return unavailable('docker', (error as Error).message);
  }
  const obstacle = amongProcesses.includes(component) ? await hostNetworkObstacle(url) : undefined;
  if (obstacle !== undefined) return unavailable('docker', obstacle);
  if (await hasImage(url, image)) return available('docker', `image ${image}`);
  return installable('docker', `image ${image} is not here; setup would pull it, as "docker pull" does`);
}

async function hasImage(url: EngineUrl, image: string): Promise<boolean> {
  const engine = await openEngine(url);
  return (await engine.getImage(image).inspect().catch(unlessStatus(404))) !== undefined;
}

async function launch(component: ComponentName, context: ComponentContext): Promise<Launch> {
  const url = engineUrl(context.env);
  const plan = await planContainer(component, `shopctl-${projectKey(context)}-${component}`, context);
  return {
    component,
    kind: 'docker',
    detail: `${plan.options.Image} in container ${plan.name}`,
    run: containerRun(plan, context, url),
    address: plan.address,
    info: { container: plan.name, engine: url, ...plan.info },
    ...(plan.url !== undefined && { url: plan.url }),
    prepare: plan.prepare ?? nothing,
    probe: plan.probe,
    async setUp() {
      if (plan.volumeName !== undefined) await recordInitialised(context, plan.volumeName);
      await plan.setUp();
    },
    ...(plan.refresh && { refresh: plan.refresh }),
    cleanUp: nothing, // A container's processes end with it.
  };
}
