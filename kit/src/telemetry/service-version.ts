/** Where the preload, which is one bundle for all services, waits for the service to say which version it is. */
const VERSION = Symbol.for('shop.service-version');

type Version = PromiseWithResolvers<string | undefined>;

type Host = { [VERSION]?: Version };

function announced(): Version {
  const host = globalThis as Host;
  host[VERSION] ??= Promise.withResolvers<string | undefined>();
  return host[VERSION];
}

/** The version of the service that this process runs, for its resource; exports wait for it. */
export function serviceVersion(): Promise<string | undefined> {
  return announced().promise;
}

/** Called by the service before anything else. Undefined at the end of a process that is not a service. The first call counts. */
export function announceVersion(version: string | undefined): void {
  announced().resolve(version);
}
