import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStyle } from '../../output/style.ts';
import { cloneRoot } from '../../platform/project.ts';
import { findExperiments, readCatalog } from './catalog.ts';
import { experimentIds } from './ids.ts';
import { renderExperiment, renderList, renderPlan } from './render.ts';
import type { ResolvedExperiment } from './schema.ts';
import { fileWith } from './testing.ts';

const style = createStyle({ enabled: false });

describe('the catalog of the clone', { timeout: 30_000 }, () => {
  it('is valid, every file', async () => {
    const { found, problems } = await readCatalog(cloneRoot());
    expect(problems).toEqual([]);
    expect(found.map(({ experiment }) => experiment.id).toSorted()).toEqual(experimentIds(cloneRoot()));
  });

  it('can be shown, listed and planned', async () => {
    const { found } = await readCatalog(cloneRoot());
    const list = renderList(found, style);
    for (const one of found) {
      const { id, title, method } = one.experiment;
      expect(list).toContain(title);
      for (const text of [renderExperiment(one, style), renderPlan(one.experiment)]) {
        expect(text).toContain(id);
        for (const { name } of method) expect(text).toContain(name);
        expect(text).not.toMatch(/undefined|\[object|NaN/);
      }
    }
  });
});

describe('an experiment that runs alone', () => {
  it('is marked in the list, on its page and in the plan, and others are not', async () => {
    const found = await findExperiments(cloneRoot(), { names: ['E35d', 'E18'] });
    const [alone, beside] = found.map(({ experiment }) => renderPlan(experiment));
    expect([alone, beside]).toEqual([expect.stringContaining('platform: alone'), expect.not.stringContaining('alone')]);
    const pages = found.map((one) => renderExperiment(one, style));
    expect(pages).toEqual([expect.stringMatching(/^needs\s+alone$/m), expect.not.stringContaining('alone')]);
    expect(renderList(found.slice(0, 1), style)).toMatch(/E35d .* alone$/);
    expect(renderList(found.slice(1), style)).not.toContain('alone');
  });

  it('is each of the catalog that compares response times with those of another step', async () => {
    const comparing = (await findExperiments(cloneRoot())).filter(({ experiment }) => comparesTimes(experiment));
    expect(comparing.length).toBeGreaterThan(0);
    expect(comparing.filter(({ experiment }) => !experiment.alone).map(({ file }) => file)).toEqual([]);
  });
});

function comparesTimes({ method, recovery }: ResolvedExperiment): boolean {
  return [...method, ...recovery].some((step) => {
    const tolerance = 'tolerance' in step ? step.tolerance : undefined;
    return typeof tolerance === 'object' && tolerance !== null && ('ratio' in tolerance || 'added' in tolerance);
  });
}

describe('files', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'shopctl-catalog-'));
    await symlink(join(cloneRoot(), 'contracts'), join(root, 'contracts'));
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(file: string, text: string): Promise<string> {
    const path = join(root, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }
  const experiment = (id: string, more = '') => fileWith({ more }).replace('id: mine', `id: ${id}`);
  const idsOf = async (selection: Parameters<typeof findExperiments>[1]) =>
    (await findExperiments(root, selection)).map(({ experiment: { id } }) => id);

  it('are found by id, by path and by tag', async () => {
    await write('chaos/stock/E02-b.yaml', experiment('E02', 'tags: [slow]'));
    await write('chaos/orders/E01-a.yaml', experiment('E01', 'tags: [fast]'));
    const own = await write('own.yaml', experiment('mine'));
    expect(await idsOf({})).toEqual(['E01', 'E02']);
    expect(await idsOf({ names: ['e02', own] })).toEqual(['E02', 'mine']);
    expect(await idsOf({ tags: ['fast'] })).toEqual(['E01']);
    await expect(findExperiments(root, { names: ['E03'] })).rejects.toThrow('unknown experiment "E03", did you mean');
    await expect(findExperiments(root, { tags: ['fats'] })).rejects.toThrow('did you mean "fast"?');
    await expect(findExperiments(root, { names: ['./none.yaml'] })).rejects.toThrow('cannot read the experiment');
  });

  it('are read by an id only where their names have it, or where no such file does', async () => {
    await write('chaos/orders/E01-a.yaml', experiment('E01'));
    await write('chaos/orders/E09-b.yaml', experiment('E03'));
    expect(await idsOf({ names: ['E01'] })).toEqual(['E01']);
    await expect(findExperiments(root, { names: ['E03'] })).rejects.toMatchObject({
      why: expect.stringContaining('the file of E03 is named E03-<words>.yaml'),
    });
    // What cannot be read is in the way of all commands that have to read it.
    await mkdir(join(root, 'chaos/orders/E02-c.yaml'));
    expect(await idsOf({ names: ['e01'] })).toEqual(['E01']);
    await expect(findExperiments(root, { names: ['E01', 'E03'] })).rejects.toThrow('cannot read the experiment');
    await write('chaos/stock/E01-d.yaml', experiment('E01'));
    await expect(findExperiments(root, { names: ['E01'] })).rejects.toMatchObject({
      why: expect.stringContaining('chaos/orders/E01-a.yaml has the id E01 too'),
    });
  });

  it.each([
    [
      'an id that another file has',
      'chaos/orders/E01-b.yaml',
      experiment('E01'),
      'chaos/orders/E01-a.yaml has the id E01 too',
    ],
    ['an id of another form', 'chaos/orders/mine.yaml', experiment('mine'), 'a letter and two digits, like E08'],
    [
      'a file named after another id',
      'chaos/orders/E09-b.yaml',
      experiment('E03'),
      'the file of E03 is named E03-<words>.yaml',
    ],
    [
      'a mistake',
      'chaos/orders/E04-b.yaml',
      experiment('E04', 'sed: 1'),
      'chaos/orders/E04-b.yaml:7:1 sed: unknown key "sed"',
    ],
  ])(
    'with %s are reported with their place, exit code 2, and do not hide the others',
    async (_, file, text, message) => {
      await write('chaos/orders/E01-a.yaml', experiment('E01'));
      await write(file, text);
      await expect(findExperiments(root)).rejects.toMatchObject({
        code: 'invalid_experiment',
        why: expect.stringContaining(message),
      });
      const { found, problems } = await readCatalog(root);
      expect(found.map(({ experiment: { id } }) => id)).toContain('E01');
      expect(problems.join('\n')).toContain(message);
    },
  );
});
