import { Document } from 'yaml';

/** An object of a cluster. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A plan in the words of another program. */
export interface Exported {
  readonly manifests: readonly Manifest[];
  /** What the manifests need that they do not bring. */
  readonly needs: readonly string[];
  /** What the plan says and they cannot. */
  readonly notExpressed: readonly string[];
}

/** How a plan is to be exported. */
export interface ExportRequest {
  /** Requests of the service a second: other programs wait by the clock, so the times of the steps follow from it. */
  readonly ratePerSecond: number;
  /** The step whose weights are written where a manifest has one state only; from 1. */
  readonly step: number;
}

/** Of `deploy/`. */
export const NAMESPACE = 'shop';
/** As in `deploy/components/keda`. */
export const PROMETHEUS = 'http://prometheus-operated.monitoring:9090';
export const HTTP_PORT = 8080;

/** The labels by which a Service of `deploy/` finds the pods of a service. */
export const stablePods = (service: string) => ({ 'app.kubernetes.io/name': service, track: 'stable' });

/** The manifests as one text, with what they cannot say as its first lines. */
export function writeManifests(title: string, { manifests, needs, notExpressed }: Exported): string {
  const notes = [
    title,
    'Needs:',
    ...needs.map((line) => `- ${line}`),
    'Not in these manifests, because there are no words for it:',
    ...notExpressed.map((line) => `- ${line}`),
  ];
  const documents = manifests.map((manifest) => new Document(manifest).toString({ lineWidth: 0 }));
  return `${notes.map((line) => `# ${line}`).join('\n')}\n${documents.join('---\n')}`;
}
