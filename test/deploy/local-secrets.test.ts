import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { find, type Manifest, ofKind, type PodTemplate, type Service, type Workload } from './support/manifest.ts';
import { cannotRender, render } from './support/render.ts';

vi.setConfig({ testTimeout: 60_000 });

const program = new URL('../../deploy/local-secrets.ts', import.meta.url).pathname;

interface LocalSecret extends Manifest {
  readonly stringData: Readonly<Record<string, string>>;
}

async function makeSecrets(): Promise<readonly LocalSecret[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  return (JSON.parse(stdout) as { items: LocalSecret[] }).items;
}

it.skipIf(cannotRender !== undefined)(
  'makes exactly the Secrets that the local manifests ask for, with their keys',
  async () => {
    const made = (await makeSecrets()).map(({ metadata, stringData }) => `${metadata.name} ${Object.keys(stringData)}`);
    const manifests = [...(await render('overlays/local')), ...(await render('overlays/local/migrations'))];
    const workloads = ['Deployment', 'StatefulSet', 'Job'].flatMap((kind) =>
      ofKind<{ template: PodTemplate }>(manifests, kind),
    );
    const variables = workloads.flatMap(({ spec }) => spec.template.spec.containers[0].env ?? []);
    const mounted: Readonly<Record<string, string>> = {
      'postgres-roles': 'roles.sql',
      'rabbitmq-definitions': 'definitions.json',
    };
    const asked = [
      ...variables.flatMap(({ valueFrom }) => {
        const { name, key } = valueFrom?.secretKeyRef ?? {};
        return name === undefined ? [] : [`${name} ${key}`];
      }),
      ...workloads
        .flatMap(({ spec }) => spec.template.spec.volumes ?? [])
        .flatMap(({ secret }) => (secret === undefined ? [] : [`${secret.secretName} ${mounted[secret.secretName]}`])),
    ];
    expect(made.toSorted()).toEqual([...new Set(asked)].toSorted());
  },
);

it.skipIf(cannotRender !== undefined)('leads their URLs to the Services of the databases and the broker', async () => {
  const manifests = await render('overlays/local');
  const urls = (await makeSecrets()).flatMap(({ stringData }) =>
    stringData.url === undefined ? [] : [stringData.url],
  );
  expect(urls.length).toBe(12);
  for (const url of urls) {
    const { hostname, port, username, pathname } = new URL(url);
    const service = find<Service>(manifests, 'Service', hostname);
    expect(service.spec.ports.map((one) => String(one.port))).toEqual([port]);
    const database = find<Workload>(manifests, 'StatefulSet', hostname).spec.template.spec.containers[0];
    expect(database.ports?.map(({ containerPort }) => String(containerPort))).toEqual([port]);
    expect(pathname).toBe(hostname === 'postgres' ? `/${username.replace('_owner', '')}` : '/shop');
  }
});

it('makes other passwords each time', async () => {
  const [first, second] = await Promise.all([makeSecrets(), makeSecrets()]);
  for (const [index, { stringData }] of first.entries()) expect(stringData).not.toEqual(second[index]?.stringData);
});
