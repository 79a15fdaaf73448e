import { CliError } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import { createDeployJournal } from '../journal.ts';
import { runsIn } from '../run.ts';
import { createSampleFiles } from '../samples.ts';
import { type DeployReport, deployReport } from './deploy-report.ts';

/** The deploy with this id or beginning of one, or the last one, from disk: no platform is needed. Throws CliError (2). */
export async function findDeploy(
  project: Pick<Project, 'stateDir'>,
  id: string | undefined,
  report: (problem: string) => void,
): Promise<DeployReport> {
  const records = await createDeployJournal(project, report).read();
  const runs = runsIn(records);
  const found = id === undefined ? runs.slice(-1) : runs.filter((run) => run.id.startsWith(id));
  const [run] = found;
  if (run === undefined || found.length > 1) throw noSuchDeploy(id, found.length);
  return deployReport(records, run.id, await createSampleFiles(project, report).read(run.id));
}

function noSuchDeploy(id: string | undefined, count: number): CliError {
  const unknown = count > 1 ? `${count} deploys have an id that begins with "${id}"` : `there is no deploy "${id}"`;
  return new CliError({
    code: 'no_deploy',
    what: id === undefined ? 'nothing was deployed yet' : unknown,
    next: id === undefined ? 'run "shopctl deploy SERVICE"' : 'see "shopctl deploy history"',
  });
}
