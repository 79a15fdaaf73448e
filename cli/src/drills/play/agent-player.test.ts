import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { identifyProcess } from '../../process/process-identity.ts';
import { aSession } from '../testing/fake-session.ts';
import { agentPlayer } from './agent-player.ts';

it('is a command that speaks on its standard streams, and has the project', async () => {
  const fake = aSession();
  const program = `read task; echo "{\\"run\\":[\\"drill\\",\\"note\\",\\"$SHOPCTL_PROJECT\\"]}"; read result; echo "$result" >&2`;
  await agentPlayer(program)(fake.session);
  expect(fake.ran).toEqual(['drill note drills']);
  expect(fake.said).toEqual(expect.arrayContaining(['{"type":"result","exitCode":0,"stdout":"{}"}']));
});

it('can be the example of the clone, which finds a broker that is not reached', async () => {
  const logs = ['gateway', 'orders', 'shipping'].join(' ');
  const fake = aSession({
    'drill page': JSON.stringify({ pages: [{ alertname: 'OutboxStalled' }] }, null, 2),
    status: JSON.stringify({ instances: [{ service: 'orders', status: 'ready' }] }, null, 2),
    [`logs ${logs} --since 1m`]:
      '{"level":"info","msg":"x"}\n{"level":"warn","msg":"the broker connection was lost"}\n',
  });
  const playing = agentPlayer(`node ${join(cloneRoot(), 'drills/agents/grep.mjs')}`)(fake.session);
  await expect.poll(() => fake.ran.at(-1), { timeout: 15_000 }).toBe('drill fixed');
  fake.over.abort();
  await playing;
  expect(fake.ran.slice(-3, -1)).toEqual([
    'drill blame --component network:orders-broker --mechanism unreachable --scope all-orders --evidence alert:OutboxStalled',
    'reroute orders-broker --via standby',
  ]);
});

it('says with which exit code a program ended before the round', async () => {
  const fake = aSession();
  await agentPlayer('exit 3')(fake.session);
  expect(fake.said).toContain('the program ended with 3');
});

it('is wrong usage where the shell does not find it', async () => {
  await expect(agentPlayer('no-such-agent-here')(aSession().session)).rejects.toMatchObject({
    code: 'agent_not_started',
    exitCode: 2,
  });
});

it('ends with everything that it has started when the round is over', async () => {
  const fake = aSession();
  // The child ignores that its input has ended.
  const playing = agentPlayer('sleep 300 & echo $!; wait')(fake.session);
  await expect.poll(() => fake.said.length).toBe(1);
  const child = Number(fake.said[0]);
  expect(await identifyProcess(child)).toBeDefined();
  fake.over.abort();
  await playing;
  await expect.poll(() => identifyProcess(child)).toBeUndefined();
});
