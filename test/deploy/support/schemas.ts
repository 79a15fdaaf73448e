import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { parseAllDocuments } from 'yaml';
import { findOnPath } from '../../../cli/src/providers/executables.ts';
import { sharedCacheDir } from '../../../cli/src/providers/testing.ts';
import type { Manifest } from './manifest.ts';

/** Where the schemas come from: the projects' own releases, as Go modules, which carry them. */
const sources = {
  kubernetes: { module: 'k8s.io/kubernetes@v1.34.2', files: ['api/openapi-spec/swagger.json'] },
  gateway: {
    module: 'sigs.k8s.io/gateway-api@v1.4.0',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  keda: {
    module: 'github.com/kedacore/keda/v2@v2.18.1',
    files: ['config/crd/bases/keda.sh_scaledobjects.yaml', 'config/crd/bases/keda.sh_triggerauthentications.yaml'],
  },
  secrets: {
    module: 'github.com/external-secrets/external-secrets@v0.20.4',
    files: ['config/crds/bases/external-secrets.io_externalsecrets.yaml'],
  },
  prometheus: {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml'],
  },
  // What `shopctl deploy export` writes for.
  argoRollouts: {
    module: 'github.com/argoproj/argo-rollouts@v1.10.2',
    files: ['manifests/crds/rollout-crd.yaml', 'manifests/crds/analysis-template-crd.yaml'],
  },
  flagger: { module: 'github.com/fluxcd/flagger@v1.36.1', files: ['artifacts/flagger/crd.yaml'] },
} as const;

type Schema = Record<string, unknown>;

/** All definitions, and which of them is whose: `apps/v1/Deployment`. */
interface Catalogue {
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly kinds: Readonly<Record<string, string>>;
}

/** Why the schemas are not available here; undefined where they can. */
export const noSchemas = (await hasCatalogue())
  ? undefined
  : 'Go is not installed: the manifests are not checked by schema';
if (noSchemas !== undefined) console.warn(noSchemas);

async function hasCatalogue(): Promise<boolean> {
  return existsSync(cacheFile()) || (await findOnPath('go', process.env)) !== undefined;
}

function cacheFile(): string {
  const digest = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 12);
  return join(sharedCacheDir(), `kubernetes-schemas-${digest}.json`);
}

/** Checks manifests as strictly as an API server with `fieldValidation=Strict`, but for the rules written in CEL. */
export async function createValidator(): Promise<(manifest: Manifest) => readonly string[]> {
  const { definitions, kinds } = await loadCatalogue();
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: 'kubernetes', definitions });
  return (manifest) => {
    const kind = `${manifest.apiVersion}/${manifest.kind}`;
    const name = kinds[kind];
    if (name === undefined) return [`${kind}: no such kind`];
    const validate = ajv.getSchema(`kubernetes#/definitions/${name}`) as ValidateFunction;
    return validate(manifest) ? [] : (validate.errors ?? []).map((error) => describe(manifest, error));
  };
}

function describe({ kind, metadata }: Manifest, { instancePath, message, params }: ErrorObject): string {
  const extra: unknown = params.additionalProperty ?? params.allowedValues;
  return `${kind} ${metadata.name}${instancePath}: ${message}${extra === undefined ? '' : ` (${extra})`}`;
}

async function loadCatalogue(): Promise<Catalogue> {
  const file = cacheFile();
  if (!existsSync(file)) await writeCatalogue(file);
  return JSON.parse(await readFile(file, 'utf8')) as Catalogue;
}

/** Downloads the modules into a folder that is removed again; what is kept is one file. */
async function writeCatalogue(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-schemas-'));
  try {
    const definitions: Record<string, Schema> = {};
    const kinds: Record<string, string> = {};
    for (const { module, files } of Object.values(sources)) {
      const sourceFolder = await download(module, folder);
      for (const path of files) addDefinitions(await readFile(join(sourceFolder, path), 'utf8'), definitions, kinds);
    }
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, JSON.stringify({ definitions, kinds }));
    await rename(draft, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download(module: string, folder: string): Promise<string> {
  const run = promisify(execFile)('go', ['mod', 'download', '-json', module], {
    cwd: folder,
    env: { ...process.env, GOPATH: folder, GOFLAGS: '-modcacherw', GOCACHE: join(folder, 'cache') },
    maxBuffer: 1 << 20,
  });
  try {
    return (JSON.parse((await run).stdout) as { Dir: string }).Dir;
  } catch (error) {
    // A module for a later Go is unpacked, and then refused: its schemas need no Go.
    const unpacked = join(folder, 'pkg/mod', module);
    const isForLaterGo = /requires go/.test((error as { stdout?: string }).stdout ?? '');
    if (isForLaterGo && existsSync(unpacked)) return unpacked;
    throw error;
  }
}

interface CustomResource {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

function addDefinitions(text: string, definitions: Record<string, Schema>, kinds: Record<string, string>): void {
  if (text.startsWith('{')) {
    const { definitions: own } = JSON.parse(text) as { definitions: Record<string, Schema> };
    for (const [name, schema] of Object.entries(own)) {
      definitions[name] = overrides[name] ?? strict(schema);
      for (const { group, version, kind } of (schema['x-kubernetes-group-version-kind'] ?? []) as GroupVersionKind[])
        kinds[group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`] = name;
    }
    return;
  }
  for (const document of parseAllDocuments(text)) {
    const { spec } = document.toJS() as CustomResource;
    for (const { name: version, schema } of spec.versions) {
      const name = `${spec.group}.${version}.${spec.names.kind}`;
      definitions[name] = withObjectMeta(strict(schema.openAPIV3Schema));
      kinds[`${spec.group}/${version}/${spec.names.kind}`] = name;
    }
  }
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Types whose JSON is either of two things, which OpenAPI 2 cannot say. */
const overrides: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['integer', 'string'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    type: ['number', 'string'],
    pattern: '^[+-]?[0-9.]+([eE][+-]?[0-9]+|[numkKMGTPE]i?)?$',
  },
};

/** A custom resource's own schema leaves its metadata open. */
function withObjectMeta(schema: Schema): Schema {
  const metadata = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
  return { ...schema, properties: { ...(schema.properties as Schema), metadata } };
}

/** The schema without prose, in which a field that is not named is an error. */
function strict(schema: Schema): Schema {
  const { description: _prose, ...rest } = schema;
  if (rest['x-kubernetes-int-or-string'] === true) return { type: ['integer', 'string'] };
  const isOpen = rest['x-kubernetes-preserve-unknown-fields'] === true || rest.additionalProperties !== undefined;
  return {
    ...rest,
    ...(typeof rest.pattern === 'string' && { pattern: patternOf(rest.pattern) }),
    ...(rest.properties !== undefined && {
      properties: mapValues(rest.properties as Record<string, Schema>, strict),
      ...(!isOpen && { additionalProperties: false }),
    }),
    ...(isSchema(rest.additionalProperties) && { additionalProperties: strict(rest.additionalProperties) }),
    ...(isSchema(rest.items) && { items: strict(rest.items) }),
  };
}

/** Go has flags for the rest of a pattern, `^(?i)(a|b)$`; here they are those of a group. */
function patternOf(pattern: string): string {
  return pattern.replace(/^\^\(\?i\)(.*)\$$/, '^(?i:$1)$');
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

function mapValues(values: Record<string, Schema>, change: (schema: Schema) => Schema): Record<string, Schema> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
