// Goal: the images of all services are made in one way, and hold nothing that does not belong into an image.
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { imageEnvironment } from '../topology/image-environment.ts';
import { serviceNames, services } from '../topology/services.ts';
import { dockerfileOf, type ImageSubject, imageSubjects } from './images.ts';
import { digestOf, sourceFiles } from './sources.ts';

const root = cloneRoot();
const textOf = (subject: ImageSubject) => readFileSync(join(root, dockerfileOf(subject)), 'utf8');

/** The instructions of a Dockerfile that begin with a word, whole where they are written on several lines. */
function instructionsOf(subject: ImageSubject): (word: string) => readonly string[] {
  const lines = textOf(subject).replaceAll('\\\n', ' ').split('\n');
  return (word) => lines.filter((line) => line.toUpperCase().startsWith(`${word} `));
}

describe.each(imageSubjects.map((subject) => [dockerfileOf(subject), subject] as const))('%s', (_file, subject) => {
  const instruction = instructionsOf(subject);

  it('starts from the same image as the others, whose last stage holds no npm cache and no sources', () => {
    const stages = ['FROM node:24-slim AS manifests', 'FROM node:24-slim AS build', 'FROM node:24-slim'];
    expect(instruction('FROM')).toEqual(stages);
    const last = textOf(subject).split('FROM node:24-slim\n')[1] ?? '';
    expect(last).toContain('COPY --from=build /app /app');
    expect(last).not.toMatch(/^(RUN|ADD) /m);
  });

  it('shares the layers before its packages with all others', () => {
    const shared = (text: string) => text.slice(text.indexOf('FROM '), text.indexOf('RUN npm ci'));
    expect(shared(textOf(subject))).toBe(shared(textOf('gateway')));
    expect(shared(textOf(subject))).toContain('package-lock.json');
  });

  it('installs what the lock file says, without running a script of a package', () => {
    const [install = '', ...more] = instruction('RUN').filter((line) => line.includes('npm'));
    expect(install).toMatch(/^RUN npm ci --omit=dev --ignore-scripts /);
    expect(more).toEqual([]);
  });

  it('runs as a numbered user that is not root, so that an orchestrator can check it', () => {
    expect(instruction('USER')).toEqual(['USER 1000:1000']);
  });

  it('is started directly, so that signals reach the program', () => {
    const [entry = '', ...more] = instruction('ENTRYPOINT');
    const [program] = JSON.parse(entry.slice('ENTRYPOINT '.length)) as string[];
    expect([program, more, instruction('CMD')]).toEqual(['node', [], []]);
  });

  it('sets no variable that holds a secret, and copies nothing but sources', () => {
    expect([...instruction('ENV'), ...instruction('ARG')].join('\n')).not.toMatch(/URL|PASSWORD|SECRET|TOKEN|KEY/i);
    expect([...instruction('COPY'), ...instruction('ADD')].join('\n')).not.toMatch(/\.shop|\.env|node_modules| \. /);
  });
});

describe('services/Dockerfile', () => {
  const instruction = instructionsOf('gateway');

  it('knows which service it is for only after the layers that all of them share', () => {
    const text = textOf('gateway');
    const shared = text.slice(text.indexOf('FROM '), text.indexOf('ARG SERVICE'));
    expect(shared).toContain('npm ci');
    expect(serviceNames.filter((name) => shared.includes(name))).toEqual([]);
  });

  it('holds a production build unless a harness build is asked for', () => {
    expect(instruction('ARG')).toEqual(['ARG SERVICE', 'ARG BUILD=production']);
    expect(instruction('RUN').at(-1)).toBe('RUN node scripts/image.mjs $SERVICE /app $BUILD');
  });

  it('starts what the process runtime starts', () => {
    const [entry = ''] = instruction('ENTRYPOINT');
    const words = JSON.parse(entry.slice('ENTRYPOINT '.length)) as string[];
    expect(words).toContain('--env-file=/app/service.env');
    expect(words.slice(-3)).toEqual(['--require', '/app/telemetry.cjs', '/app/service.cjs']);
  });

  it('has a health check and says which ports services listen on', () => {
    expect(instruction('HEALTHCHECK')).toHaveLength(1);
    expect(instruction('EXPOSE')).toEqual(['EXPOSE 8080 8081']);
  });
});

describe.each(services)('the variables in the image of $name', (definition) => {
  it('are the heap of the process runtime, and a port for the health of a gRPC service', () => {
    const health = definition.protocol === 'grpc' ? { HEALTH_PORT: '8081' } : {};
    const heap = `--max-semi-space-size=${definition.semiSpaceMb}`;
    expect(parseEnv(imageEnvironment(definition))).toEqual({ ...health, NODE_OPTIONS: heap });
  });
});

describe('sources of an image', () => {
  it.each(imageSubjects)('%s: are all that its Dockerfile copies, and no test', async (subject) => {
    const files = await sourceFiles(root, subject);
    const copied = readFileSync(join(root, dockerfileOf(subject)), 'utf8')
      .replaceAll('$SERVICE', subject)
      .split('\n')
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    const isManifest = (file: string) => /^services\/[a-z]+\/package\.json$/.test(file);
    // The first stage takes all of them, and leaves the manifests.
    const isCopied = (file: string) =>
      copied.some((path) => (path === 'services' ? isManifest(file) : file === path || file.startsWith(`${path}/`)));
    expect(copied.filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
    const reported = ['.dockerignore', dockerfileOf(subject)];
    expect(files.filter((file) => !isCopied(file) && !reported.includes(file))).toEqual([]);
    expect(files.filter((file) => file.includes('node_modules') || file.endsWith('.test.ts'))).toEqual([]);
  });

  it('are of no other service', async () => {
    const files = await sourceFiles(root, 'payments');
    expect(files.filter((file) => file.startsWith('services/stock/'))).toEqual(['services/stock/package.json']);
  });

  it('reach the engine: none is left out by .dockerignore', async () => {
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    for (const subject of imageSubjects) {
      const files = (await sourceFiles(root, subject)).filter((file) => file !== '.dockerignore');
      const left = files.filter((file) => !kept.some((path) => file === path || file.startsWith(`${path}/`)));
      expect(left, subject).toEqual([]);
    }
  });

  it('have a digest of names and contents', async () => {
    const files = await sourceFiles(root, 'payments');
    const digest = await digestOf(root, 'payments', files);
    expect(await digestOf(root, 'payments', files)).toBe(digest);
    expect(await digestOf(root, 'payments', files.slice(1))).not.toBe(digest);
  });

  it('are the same for another version of another service, and others for its own or for a dependency of another', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shop-sources-'));
    const files = ['services/orders/package.json', 'services/payments/package.json'];
    const digestWith = async (orders: object, payments: object) => {
      for (const [name, manifest] of Object.entries({ orders, payments })) {
        await mkdir(join(folder, 'services', name), { recursive: true });
        await writeFile(join(folder, 'services', name, 'package.json'), JSON.stringify(manifest));
      }
      return digestOf(folder, 'payments', files);
    };
    try {
      const digest = await digestWith({ version: '1.0.0' }, { version: '1.0.0' });
      expect(await digestWith({ version: '1.1.0' }, { version: '1.0.0' })).toBe(digest);
      expect(await digestWith({ version: '1.0.0' }, { version: '1.1.0' })).not.toBe(digest);
      expect(await digestWith({ version: '1.0.0', dependencies: { pg: '8.0.0' } }, { version: '1.0.0' })).not.toBe(
        digest,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
