import { type ServiceName, serviceNames } from '../../cli/src/topology/services.ts';

/** `services/<name>/src/config.ts` */
interface ServiceConfig {
  /** What the service reads of its environment, as a JSON schema. */
  readonly variables: {
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
  };
  /** Throws ConfigError naming every wrong variable. */
  readonly loadConfig: (env: NodeJS.ProcessEnv) => object;
}

/** The configuration of every service. */
export const serviceConfigs = Object.fromEntries(
  await Promise.all(
    serviceNames.map(async (name) => [name, (await import(`../../services/${name}/src/config.ts`)) as ServiceConfig]),
  ),
) as Readonly<Record<ServiceName, ServiceConfig>>;
