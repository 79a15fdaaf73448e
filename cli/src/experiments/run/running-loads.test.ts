import { expect, it } from 'vitest';
import { RunningLoads } from './running-loads.ts';

const summary = { sent: 100, late: 50 };
const aLoad = (done = Promise.resolve(summary)) => ({ stop: () => undefined, done });

it('ends every load and returns those that no step has evaluated', async () => {
  const loads = new RunningLoads();
  loads.add('stopped', aLoad());
  loads.add('left', aLoad());
  expect(loads.take('stopped')).toBeDefined();
  expect(await loads.end()).toEqual([{ step: 'left', summary }]);
});

it('a load that broke off is met where it is ended, and not before', async () => {
  const loads = new RunningLoads();
  loads.add('broken', aLoad(Promise.reject(new Error('a defect'))));
  await expect(loads.end()).rejects.toThrow('a defect');
});
