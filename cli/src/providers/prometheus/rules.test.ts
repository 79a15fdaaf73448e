import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prometheusFiles, readRules } from './files.ts';
import { complaintsIn, prepareFiles, refreshRules } from './rules.ts';

let folder: string;
let server: Server;
let asked: string[];
let respond: RequestListener;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prometheus-rules-'));
  await mkdir(join(folder, 'dashboards/prometheus/laptop'), { recursive: true });
  asked = [];
  respond = (_, response) => response.end();
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const files = () => prometheusFiles(join(folder, 'state'));
const context = () => ({
  root: folder,
  telemetryUrl: 'http://127.0.0.1:4318',
  logFile: (name: string) => join(folder, `${name}.log`),
});
const refresh = () => refreshRules(files(), context(), `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
const edit = (content: string) => writeFile(join(folder, 'dashboards/prometheus/laptop/alerts.yaml'), content);

describe('rules of a running Prometheus', () => {
  it('are loaded again where they changed, which is reported', async () => {
    await edit('groups: []\n');
    await prepareFiles(files(), context());
    expect(await refresh()).toEqual([]);
    expect(asked).toEqual([]);
    await edit('groups: [] # edited\n');
    expect(await refresh()).toEqual(['rules alerts.yaml']);
    expect(asked).toEqual(['POST /-/reload']);
    expect(await refresh()).toEqual([]);
  });

  it('stay as they were where it refuses the new ones, and what it says of them is reported', async () => {
    await edit('groups: []\n');
    await prepareFiles(files(), context());
    await appendFile(context().logFile('prometheus'), 'level=error err="of another day"\n');
    respond = async (_, response) => {
      await appendFile(context().logFile('prometheus'), 'level=error err="alerts.yaml: 4:33: parse error"\n');
      response.writeHead(500).end('failed to reload config\n');
    };
    await edit('groups: [broken\n');
    await expect(refresh()).rejects.toThrow(/^alerts\.yaml: 4:33: parse error$/);
    expect(await readRules(files().rules)).toEqual(new Map([['alerts.yaml', 'groups: []\n']]));
    await expect(refresh()).rejects.toThrow('parse error');
  });

  it('are refused with the response where the log says nothing', async () => {
    await prepareFiles(files(), context());
    respond = (_, response) => response.writeHead(403).end('Lifecycle API is not enabled.');
    await edit('groups: []\n');
    await expect(refresh()).rejects.toThrow('alerts.yaml: Lifecycle API is not enabled.');
  });
});

it('nothing is prepared where no supervisor gives metrics', async () => {
  const { telemetryUrl: _, ...without } = context();
  await expect(prepareFiles(files(), without)).rejects.toThrow('no supervisor');
});

it.each([
  ['2.42', 'ts=2026 caller=manager.go:1 level=error component="rule manager" err="a \\"b\\" c"', ['a "b" c']],
  ['3.x', 'time=2026 level=ERROR source=manager.go:1 msg="loading groups failed" err="a c"', ['a c']],
  ['no error', 'ts=2026 level=info msg="Completed loading"', []],
  ['one without a cause', 'level=error msg="failed"', ['level=error msg="failed"']],
  ['its consequence', 'level=error err="error loading rules, previous rule set restored"', []],
])('what a log complains about: %s', (_, line, complaints) => {
  expect(complaintsIn(`${line}\n${line}\n`)).toEqual(complaints);
});
