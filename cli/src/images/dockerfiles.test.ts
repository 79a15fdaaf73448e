// Goal: the images of all services are made in one way, and hold nothing that does not belong into an image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { type ServiceName, services } from '../platform/services.ts';
import { dockerfileOf, imageSubjects } from './images.ts';
import { digestOf, sourceFiles } from './sources.ts';

const root = cloneRoot();
const textOf = (name: ServiceName) => readFileSync(join(root, dockerfileOf(name)), 'utf8');

describe.each(services)('services/$name/Dockerfile', ({ name, door, semiSpaceMb }) => {
  const lines = textOf(name).split('\n');
  const instruction = (word: string) => lines.filter((line) => line.startsWith(`${word} `));

  it('shares all layers up to its own sources with the others', () => {
    const shared = (text: string) => text.slice(text.indexOf('FROM '), text.indexOf('# of its own'));
    expect(shared(textOf(name))).toBe(shared(textOf('gateway')));
    expect(shared(textOf(name))).toContain('npm ci');
  });

  it('starts what the process runtime starts', () => {
    const [entry = ''] = instruction('ENTRYPOINT');
    const words = JSON.parse(entry.slice('ENTRYPOINT '.length)) as string[];
    expect(words).toContain(`--max-semi-space-size=${semiSpaceMb}`);
    expect(words.slice(-3)).toEqual(['--require', '/app/telemetry.cjs', '/app/service.mjs']);
  });

  it('runs as a numbered user that is not root, so that an orchestrator can tell', () => {
    expect(instruction('USER')).toEqual(['USER 1000:1000']);
  });

  it('has a health check and says which ports it listens on', () => {
    expect(instruction('HEALTHCHECK')).toHaveLength(1);
    expect(instruction('EXPOSE')).toEqual([door === 'grpc' ? 'EXPOSE 8080 8081' : 'EXPOSE 8080']);
  });

  it('sets no variable that holds a secret, and copies nothing but sources', () => {
    expect(instruction('ENV').join('\n')).not.toMatch(/URL|PASSWORD|SECRET|TOKEN/);
    expect(instruction('COPY').join('\n')).not.toMatch(/\.shop|node_modules| \. /);
  });
});

describe('sources of an image', () => {
  it.each(imageSubjects)('%s: are all that its Dockerfile copies, and no test', async (subject) => {
    const files = await sourceFiles(root, subject);
    const copied = readFileSync(join(root, dockerfileOf(subject)), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    const isCopied = (file: string) => copied.some((path) => file === path || file.startsWith(`${path}/`));
    expect(copied.filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)))).toEqual([]);
    const told = ['.dockerignore', dockerfileOf(subject)];
    expect(files.filter((file) => !isCopied(file) && !told.includes(file))).toEqual([]);
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
    const digest = await digestOf(root, files);
    expect(await digestOf(root, files)).toBe(digest);
    expect(await digestOf(root, files.slice(1))).not.toBe(digest);
  });
});
