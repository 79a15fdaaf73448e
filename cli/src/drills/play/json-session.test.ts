import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { aSession } from '../testing/fake-session.ts';
import { runJsonSession } from './json-session.ts';

/** What a session writes to a program that writes these lines. */
async function linesOf(lines: readonly string[], fake = aSession({ status: '{"status":"ready"}' })) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const written = text(output);
  input.end(lines.map((line) => `${line}\n`).join(''));
  await runJsonSession({ input, output }, fake.session);
  output.end();
  return (await written)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

it('begins with the task, whose words are all that a diagnosis can have, and ends with over', async () => {
  const [task, ...rest] = await linesOf([]);
  expect(task).toMatchObject({ type: 'task', round: '20260101-120000', level: 2, commitment: 'c0ffee', tries: 3 });
  expect(task.components).toContain('network:orders-payments');
  expect(task.commands).toContain('drill blame');
  expect(rest).toEqual([{ type: 'over' }]);
});

it('runs what is asked for, in order, and returns the id of each request', async () => {
  const fake = aSession({ status: '{"status":"ready"}' });
  const lines = await linesOf(['{"run":["status"],"id":7}', '{"run":["drill","fixed"]}'], fake);
  expect(lines.slice(1, -1)).toEqual([
    { type: 'result', id: 7, exitCode: 0, stdout: '{"status":"ready"}' },
    { type: 'result', exitCode: 0, stdout: '{}' },
  ]);
  expect(fake.ran).toEqual(['status', 'drill fixed']);
});

it.each([
  [['chaos', 'status'], '"chaos" is not a command of an operator'],
  [['drill', 'debrief'], '"drill debrief" is not a command of an operator'],
  [['down'], '"down" is not a command of an operator'],
  [['status', '--project', 'shop'], '--project is given by the session'],
  [['status', '-p', 'shop'], '-p is given by the session'],
  [['status', '--format=table'], '--format=table is given by the session'],
])('refuses %j', async (run, why) => {
  const fake = aSession();
  expect((await linesOf([JSON.stringify({ run, id: 1 })], fake))[1]).toEqual({ type: 'error', id: 1, why });
  expect(fake.ran).toEqual([]);
});

it.each(['thinking …', '{"run":[]}', '{"run":[1]}', '[]', 'null'])('says %s to people', async (line) => {
  const fake = aSession();
  expect(await linesOf([line], fake)).toHaveLength(2);
  expect(fake.said).toEqual([line]);
});

it('ends when the round is over, while a program still could write', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const fake = aSession();
  const done = runJsonSession({ input, output }, fake.session);
  fake.over.abort();
  await done;
  expect(String(output.read()).trim().split('\n').at(-1)).toBe('{"type":"over"}');
});
