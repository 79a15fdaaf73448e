// Goal: the images of all services are made in one way, and hold nothing that does not belong into an image.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { services } from '../platform/services.ts';
import { digestOf, sourceFiles } from './sources.ts';

const root = cloneRoot();
const dockerfileOf = (name: string) => readFileSync(join(root, `services/${name}/Dockerfile`), 'utf8');

describe.each(services)('services/$name/Dockerfile', ({ name, door, semiSpaceMb }) => {
  const lines = dockerfileOf(name).split('\n');
  const instruction = (word: string) => lines.filter((line) => line.startsWith(`${word} `));

  it('shares all layers up to its own sources with the others', () => {
    const shared = (text: string) => text.slice(text.indexOf('FROM '), text.indexOf('# of its own'));
    expect(shared(dockerfileOf(name))).toBe(shared(dockerfileOf('gateway')));
    expect(shared(dockerfileOf(name))).toContain('npm ci');
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
  it('are all that its Dockerfile copies, and no other service', async () => {
    const files = await sourceFiles(root, 'payments');
    const copied = dockerfileOf('payments')
      .split('\n')
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    for (const path of copied) expect(files.some((file) => file === path || file.startsWith(`${path}/`))).toBe(true);
    expect(files.filter((file) => file.startsWith('services/stock/'))).toEqual(['services/stock/package.json']);
    expect(files.some((file) => file.includes('node_modules') || file.endsWith('.test.ts'))).toBe(false);
  });

  it('have a digest of names and contents', async () => {
    const files = await sourceFiles(root, 'payments');
    const digest = await digestOf(root, files);
    expect(await digestOf(root, files)).toBe(digest);
    expect(await digestOf(root, files.slice(1))).not.toBe(digest);
  });
});
