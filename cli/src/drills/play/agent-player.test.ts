import { expect, it } from 'vitest';
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
