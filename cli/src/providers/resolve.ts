import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ComponentName, componentNames } from '../topology/components.ts';
import type { Availability, ComponentContext, Launch, OnProgress, Provider, ProviderKind } from './component.ts';
import { purgeContainers } from './docker/leftovers.ts';
import { holdInstallation, type InstallationPlace } from './installation.ts';
import { jaegerProviders } from './jaeger.ts';
import { removeOutside } from './postgres/place.ts';
import { postgresProviders } from './postgres.ts';
import { prometheusProviders } from './prometheus.ts';
import { rabbitmqProviders } from './rabbitmq.ts';
import type { ToolName } from './tool.ts';
import { toxiproxyProviders } from './toxiproxy.ts';
import { ComponentUnavailableError } from './unavailable.ts';

const providers: Readonly<Record<ComponentName, (context: ComponentContext) => readonly Provider[]>> = {
  postgres: postgresProviders,
  rabbitmq: rabbitmqProviders,
  toxiproxy: toxiproxyProviders,
  jaeger: jaegerProviders,
  prometheus: prometheusProviders,
};

export interface ResolveOptions {
  /** Use this source only (`--provider component=kind`). */
  readonly forced?: ProviderKind | undefined;
}

export interface InstallOptions extends ResolveOptions {
  /** Ends the installation when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 * The first way that serves now, in the order of the design. Starts and installs nothing. Throws
 * ComponentUnavailableError (exit code 3) with each way tried.
 */
export async function resolveComponent(
  name: ComponentName,
  context: ComponentContext,
  options: ResolveOptions = {},
): Promise<Launch> {
  const tried: Availability[] = [];
  for (const provider of waysOf(name, context, options)) {
    const availability = await checkSource(provider);
    if (availability.available) return provider.launch();
    tried.push(availability);
  }
  throw new ComponentUnavailableError(name, tried);
}

/** Every way of every component, for `doctor`. */
export async function describeProviders(context: ComponentContext): Promise<Record<ComponentName, Availability[]>> {
  const described = componentNames.map(
    async (name) => [name, await Promise.all(providers[name](context).map(checkSource))] as const,
  );
  return Object.fromEntries(await Promise.all(described)) as Record<ComponentName, Availability[]>;
}

/**
 * Makes a component available when it is not: downloads or builds by the first way that can be installed and works.
 * Does nothing when a way serves already. Throws ComponentUnavailableError when none can, with what each one failed at;
 * rejects with the signal's reason when it aborts.
 */
export async function installComponent(
  name: ComponentName,
  context: ComponentContext,
  onProgress: OnProgress,
  { forced, signal }: InstallOptions = {},
): Promise<void> {
  const { cacheDir } = context;
  return installFirst(name, waysOf(name, context, { forced }), { cacheDir, onProgress, ...(signal && { signal }) });
}

/** What a way must be able to do for `installFirst`: those of components and of tools. */
interface InstallableSource extends Pick<Provider, 'kind' | 'check'> {
  install?(onProgress: OnProgress, signal?: AbortSignal): Promise<void>;
}

/**
 * The same for sources that are already known. Two concurrent callers do the work once: the second waits for the first, also
 * where they want different things under one `lockName`.
 * Rejects with the signal's reason when it aborts.
 */
export async function installFirst(
  name: ComponentName | ToolName,
  ways: readonly InstallableSource[],
  { lockName = name, ...at }: InstallationPlace & { readonly lockName?: string },
): Promise<void> {
  const { onProgress, signal } = at;
  const checked = await checkSources(ways);
  if (checked.some(({ availability }) => availability.available)) return;
  const failed: Availability[] = [];
  for (const { way, availability } of checked) {
    if (!availability.installable || way.install === undefined) {
      failed.push(availability);
      continue;
    }
    try {
      await using _ = await holdInstallation(lockName, at);
      if ((await checkSources(ways)).some((one) => one.availability.available)) return;
      return await way.install(onProgress, signal);
    } catch (error) {
      signal?.throwIfAborted();
      onProgress(`${way.kind}: ${(error as Error).message}`);
      failed.push({ ...availability, installable: false, detail: (error as Error).message });
    }
  }
  throw new ComponentUnavailableError(name, failed);
}

function checkSources(ways: readonly InstallableSource[]) {
  return Promise.all(ways.map(async (way) => ({ way, availability: await checkSource(way) })));
}

/** Removes what the components of a stopped project stored, in the state directory, outside of it, and in Docker. */
export async function purgeComponents(context: Pick<ComponentContext, 'project' | 'stateDir'>): Promise<void> {
  const { stateDir } = context;
  await Promise.all([removeStored(stateDir), purgeContainers(stateDir)]);
}

async function removeStored(stateDir: string): Promise<void> {
  await removeOutside(stateDir);
  await rm(join(stateDir, 'data'), { recursive: true, force: true });
}

function waysOf(name: ComponentName, context: ComponentContext, { forced }: ResolveOptions): readonly Provider[] {
  return forcedAlone(name, providers[name](context), forced);
}

/** All of the ways, or the forced one. Throws ComponentUnavailableError with those there are when it is none of them. */
export function forcedAlone<Way extends Pick<Provider, 'kind'>>(
  name: ComponentName | ToolName,
  all: readonly Way[],
  forced: ProviderKind | undefined,
): readonly Way[] {
  if (forced === undefined) return all;
  const ways = all.filter(({ kind }) => kind === forced);
  if (ways.length > 0) return ways;
  const detail = `${name} has no such way; it has ${all.map(({ kind }) => kind).join(', ')}`;
  throw new ComponentUnavailableError(name, [{ kind: forced, available: false, installable: false, detail }]);
}

/** A way whose check itself fails is a way that does not serve; the others are still tried. */
export async function checkSource(provider: Pick<Provider, 'kind' | 'check'>): Promise<Availability> {
  try {
    return await provider.check();
  } catch (error) {
    return {
      kind: provider.kind,
      available: false,
      installable: false,
      detail: `check failed: ${(error as Error).message}`,
    };
  }
}
