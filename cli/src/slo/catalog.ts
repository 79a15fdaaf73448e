import { glob, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CliError } from '../errors.ts';
import { suggestName } from '../shared/suggest-name.ts';
import { readSlo } from './read.ts';
import type { Slo } from './slo.ts';

const FOLDER = 'dashboards/slos';

/** The SLOs of the clone by name. Throws CliError (2) with everything that is wrong with their files. */
export async function readSlos(root: string): Promise<readonly Slo[]> {
  const files: string[] = [];
  for await (const file of glob(`${FOLDER}/*.{yaml,yml}`, { cwd: root })) files.push(file);
  const read = await Promise.all(
    files.toSorted().map(async (file) => ({ file, ...readSlo(await readFile(join(root, file), 'utf8')) })),
  );
  const problems = read.flatMap(({ file, slo, problems }) => [
    ...problems.map(({ line, column, path, message }) => `${file}:${line}:${column} ${path && `${path}: `}${message}`),
    ...(slo !== undefined && slo.name !== basename(file).replace(/\.ya?ml$/, '')
      ? [`${file}:1:1 metadata.name: the file of ${slo.name} is named ${slo.name}.yaml`]
      : []),
    ...alertsTwice(
      slo,
      read.map((other) => other.slo).filter((other) => other !== undefined),
    ).map((alert) => `${file}:1:1 spec.alertPolicies: another SLO has the alert ${alert} too`),
  ]);
  if (problems.length > 0) {
    throw new CliError({
      code: 'invalid_slo',
      what: problems.length === 1 ? 'an SLO is not valid' : `SLOs are not valid: ${problems.length} problems`,
      why: problems.join('\n'),
      next: 'correct the files; docs/slos.md describes the format',
    });
  }
  return read.flatMap(({ slo }) => slo ?? []);
}

function alertsTwice(slo: Slo | undefined, all: readonly Slo[]): readonly string[] {
  const others = new Set(all.filter((other) => other !== slo).flatMap(({ alerts }) => alerts.map(({ name }) => name)));
  return slo?.alerts.map(({ name }) => name).filter((name) => others.has(name)) ?? [];
}

/** The SLO with this name. Throws CliError (2) with the nearest one. */
export function findSlo(slos: readonly Slo[], name: string): Slo {
  const found = slos.find((slo) => slo.name === name);
  if (found) return found;
  const names = slos.map((slo) => slo.name);
  const suggestion = suggestName(name, names);
  throw new CliError({
    code: 'unknown_slo',
    what: `unknown SLO "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `there are ${names.join(', ')}`,
  });
}
