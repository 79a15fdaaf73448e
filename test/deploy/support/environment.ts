import { type Container, type EnvironmentVariable, find, type Manifest } from './manifest.ts';

/** Stands for every secret: it is a URL of whatever kind the variable's name says. */
const examples: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://role:secret@database.example:5432/name',
  BROKER_URL: 'amqps://user:secret@broker.example/shop',
};

/** A container's environment as the kubelet would make it; secrets and the pod's own fields are examples. */
export function environmentOf(container: Container, manifests: readonly Manifest[]): Record<string, string> {
  const shared = (container.envFrom ?? []).map(
    ({ configMapRef }) => find(manifests, 'ConfigMap', configMapRef.name).data,
  );
  const own = (container.env ?? []).map((variable) => [variable.name, valueFor(variable, manifests)]);
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

function valueFor({ name, value, valueFrom }: EnvironmentVariable, manifests: readonly Manifest[]): string {
  if (value !== undefined) return value;
  if (valueFrom?.fieldRef !== undefined) return 'payments-canary-7d9f8b6c5d-x2k9p';
  if (valueFrom?.configMapKeyRef !== undefined) {
    const { name: map, key } = valueFrom.configMapKeyRef;
    const found = find(manifests, 'ConfigMap', map).data?.[key];
    if (found === undefined) throw new Error(`ConfigMap ${map} has no ${key}`);
    return found;
  }
  const example = examples[name];
  if (example === undefined) throw new Error(`${name}: no example of this secret is known`);
  return example;
}

/** An environment that remembers which of its variables were asked for. */
export function watchedEnvironment(values: Record<string, string>) {
  const read = new Set<string>();
  const env = new Proxy(values, {
    get(target, name: string) {
      read.add(name);
      return target[name];
    },
  });
  return { env, read };
}
