#!/usr/bin/env node
// Example of an agent for "shopctl drill play --agent" and "drill bench --agent": it looks at what is not ready and at what logs
// name most often, and knows two cures. It speaks JSON lines: a request {"run": [...]} on stdout, its result on stdin.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value ?? '{"type":"over"}');

const task = await next();

/** A document, or one a line where a command writes a stream. */
function parse(text) {
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }
}

/** Runs a command of shopctl; gives its documents, or nothing where it failed. */
async function run(...words) {
  console.log(JSON.stringify({ run: words }));
  const line = await next();
  if (line.type === 'over') process.exit(0);
  if (line.type !== 'result' || line.exitCode !== 0) return undefined;
  return parse(line.stdout);
}

async function page() {
  // Nothing comes later than 100 s after the start; three sources have been asked by then.
  for (let look = 0; look < 60; look++) {
    const [{ pages = [] } = {}] = (await run('drill', 'page')) ?? [];
    if (pages.length > 0) return pages[0].alertname;
    if (look % 10 === 0) await run('status');
    if (look % 10 === 5) await run('changes');
    await delay(2_000);
  }
}

const alert = await page();
if (alert === undefined) await run('drill', 'all-clear');
await run('drill', 'ack');

const [{ instances = [] } = {}] = (await run('status')) ?? [];
const broken = instances.find(({ status }) => status !== 'ready');
const logs = (await run('logs', 'gateway', 'orders', 'shipping', '--since', '1m')) ?? [];
const warnings = JSON.stringify(logs.filter(({ level }) => level === 'warn' || level === 'error'));
const mentions = (word) => warnings.split(word).length;
// `broker` of `orders-broker`: what orders cannot reach is named so in its warnings.
const edge = task.components
  .filter((name) => name.startsWith('network:orders-'))
  .map((name) => name.slice('network:'.length))
  .toSorted((one, other) => mentions(other.split('-')[1]) - mentions(one.split('-')[1]))[0];

const [component, mechanism] = broken ? [broken.service, 'stopped'] : [`network:${edge}`, 'unreachable'];
await run(
  'drill',
  'blame',
  '--component',
  component,
  '--mechanism',
  mechanism,
  '--scope',
  'all-orders',
  '--evidence',
  `alert:${alert}`,
);
await (broken ? run('restart', broken.service) : run('reroute', edge, '--via', 'standby'));
await run('drill', 'fixed');
// The round goes on where this has cured nothing; there is no second idea.
await delay(100_000);
await run('drill', 'give-up');
