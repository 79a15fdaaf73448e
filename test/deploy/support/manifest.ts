/** The parts of Kubernetes objects that the tests read. Schemas check the rest. */
export type Labels = Readonly<Record<string, string>>;

export interface Manifest<Spec = unknown> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: Spec;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { key: string; operator: string; values: readonly string[] }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly EnvironmentVariable[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>;
    readonly limits: Readonly<Record<string, string>>;
  };
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly configMapKeyRef?: { readonly name: string; readonly key: string };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Labels };
  readonly spec: {
    readonly containers: readonly [Container];
    readonly volumes?: readonly {
      readonly name: string;
      readonly secret?: { readonly secretName: string };
      readonly configMap?: { readonly name: string };
    }[];
    readonly terminationGracePeriodSeconds: number;
    readonly enableServiceLinks?: boolean;
    readonly automountServiceAccountToken?: boolean;
    readonly securityContext: Readonly<Record<string, unknown>>;
  };
}

export interface Workload {
  readonly replicas?: number;
  readonly selector: Selector;
  readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } };
  readonly template: PodTemplate;
}

export interface Service {
  readonly selector: Labels;
  readonly clusterIP?: string;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
}

/** Objects of one kind, in the order they were rendered. */
export function ofKind<Spec>(manifests: readonly Manifest[], kind: string): readonly Manifest<Spec>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as readonly Manifest<Spec>[];
}

/** The object of this kind and name. Throws when there is none. */
export function find<Spec>(manifests: readonly Manifest[], kind: string, name: string): Manifest<Spec> {
  const found = ofKind<Spec>(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** Does a pod with these labels belong to the selector? Knows `matchLabels` and the operator `In`. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new Error(`selector operator ${operator} is not known here`);
      return values.includes(labels[key] ?? '');
    })
  );
}
