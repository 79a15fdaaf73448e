import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkCpus, checkDisk, checkMemory, checkNode } from './machine.ts';
import { checkPort } from './ports.ts';

it.each([
  ['20.19.0', 'fail', /npm install/],
  ['24.21.0', 'pass', undefined],
  ['26.0.0', 'pass', undefined],
])('Node %s: %s', (version, verdict, fix) => {
  const check = checkNode(version);
  expect(check).toMatchObject({ verdict, evidence: `Node ${version}` });
  if (fix) expect(check.fix).toMatch(fix);
  else expect(check.fix).toBeUndefined();
});

it('warns of a single CPU and says what to expect', () => {
  expect(checkCpus(1)).toMatchObject({ verdict: 'pass', evidence: '1 CPU', fix: expect.stringContaining('slow') });
  expect(checkCpus(2)).toEqual({ group: 'machine', name: 'cpu', verdict: 'pass', evidence: '2 CPUs' });
});

it('reports how much memory there is and how much is needed', async () => {
  expect((await checkMemory()).evidence).toMatch(/available, a platform needs \d/);
});

it('looks at the disk of a folder that is still to be made', async () => {
  const folder = join(tmpdir(), 'not', 'made', 'yet');
  expect((await checkDisk(folder)).evidence).toContain(folder);
});

it('names the process that holds the port, unless it is ours', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const taken = await checkPort(port, false);
    expect(taken).toMatchObject({ verdict: 'pass', fix: expect.stringContaining('shopctl port gateway') });
    if (process.platform === 'linux') expect(taken.evidence).toContain(`process ${process.pid}`);
    expect(await checkPort(port, true)).toMatchObject({ verdict: 'pass', evidence: 'held by the running gateway' });
  } finally {
    server.close();
  }
  expect(await checkPort(port, false)).toMatchObject({ verdict: 'pass', evidence: 'free' });
});
