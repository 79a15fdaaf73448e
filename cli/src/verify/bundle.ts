import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { checkCpus, checkDisk, checkMemory, checkNode } from '../doctor/machine.ts';
import { messageOf } from '../errors.ts';
import { inspectionContext } from '../platform/component-context.ts';
import { writePrivateFile } from '../providers/private-file.ts';
import { describeProviders } from '../providers/resolve.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { within } from '../shared/time-limit.ts';
import type { CheckResult } from '../shared/verdict.ts';
import type { VerifyContext } from './context.ts';

/** What is broken may also be what a part of the bundle is read from. In ms. */
const PART_LIMIT_MS = 10_000;

/** The last bytes of each log that go into a bundle. */
const LOG_TAIL_BYTES = 2 * 1024 ** 2;

/**
 * Collects what explains a failure into `.shop/<project>/bundles/<time>/` (0700): logs, the traces of this run,
 * metrics, state, events, the doctor's findings and the results. What is not available is named in `missing.txt`. Every
 * known secret is replaced. Returns the folder.
 */
export async function writeBundle(
  context: VerifyContext,
  results: readonly CheckResult[],
  now = new Date(),
): Promise<string> {
  const folder = join(context.project.stateDir, 'bundles', now.toISOString().replaceAll(':', '-'));
  const redact = await createRedaction(context.project.secretsFile);
  const missing: string[] = [];
  const save = async (name: string, content: () => Promise<unknown>) => {
    try {
      const value = await within(content(), PART_LIMIT_MS, name);
      const text = typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`;
      await writePrivateFile(join(folder, name), redact(text));
    } catch (error) {
      missing.push(redact(`${name}: ${messageOf(error)}`));
    }
  };
  await Promise.all(['logs', 'traces'].map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })));
  const { connection, telemetry, project, traceIds } = context;
  const logs = (await readdir(project.logDir)).filter((name) => name.endsWith('.log'));
  await Promise.all([
    save('results.json', async () => results),
    save('state.json', () => connection.control.state()),
    save('events.ndjson', () => readEvents(context)),
    save('metrics.json', () => telemetry.metrics([])),
    save('doctor.json', () => examineMachine(context)),
    ...logs.map((name) => save(join('logs', name), () => readTail(join(project.logDir, name)))),
    ...traceIds().map((id) => save(join('traces', `${id}.json`), async () => serialisable(await telemetry.trace(id)))),
  ]);
  if (missing.length > 0) await writePrivateFile(join(folder, 'missing.txt'), `${missing.join('\n')}\n`);
  return folder;
}

/** JSON has no big integers; the times of spans are. */
function serialisable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)));
}

/** What `doctor` says of the machine and its components; ports and leftovers mean nothing while the platform runs. */
async function examineMachine({ project, env }: VerifyContext): Promise<object> {
  const [memory, disk, providers] = await Promise.all([
    checkMemory(),
    checkDisk(project.cacheDir),
    describeProviders(inspectionContext(project, env)),
  ]);
  return { checks: [checkNode(process.versions.node), checkCpus(), memory, disk], providers };
}

async function readEvents({ connection }: VerifyContext): Promise<string> {
  const lines: string[] = [];
  for await (const event of connection.control.events({ follow: false })) lines.push(JSON.stringify(event));
  return `${lines.join('\n')}\n`;
}

async function readTail(file: string): Promise<string> {
  await using handle = await open(file, 'r');
  const { size } = await handle.stat();
  const length = Math.min(size, LOG_TAIL_BYTES);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.subarray(0, bytesRead).toString('utf8');
}

/** A secret should be in none of this; if one ever is, it does not leave with a bundle. */
async function createRedaction(secretsFile: string): Promise<(text: string) => string> {
  const secrets = stringsIn(await loadOrCreateSecrets(secretsFile));
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
