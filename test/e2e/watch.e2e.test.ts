// Goal: the live view shows a broker fault while it acts, does what its keys say, and gives the terminal back however it
// ends. Method: the built command in a real terminal (tmux) on a real platform; keys are typed, the screen is read.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { eventually } from './support/eventually.ts';
import { noTmux, openTerminal, type Terminal } from './support/tmux.ts';

if (noTmux !== undefined) console.warn(`the live view is not driven here: ${noTmux}`);

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({ project: 'watch-e2e' });
});
afterAll(() => platform?.stop());

it('without a terminal it names the command for that, and ends with 2', async () => {
  const { code, stdout, stderr } = await platform.shopctl('watch');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('shopctl counters');
});

const terminals: Terminal[] = [];
afterEach(async () => {
  for (const terminal of terminals.splice(0)) await terminal.close();
});

/** Opens a terminal, starts the live view in it, and resolves with its process id when it shows the platform. */
async function open(columns = 80, rows = 24) {
  const { root, name, stateDir } = platform.project;
  // Colours and CI are what a person at a terminal has.
  const { NO_COLOR: _, CI: __, ...env } = process.env;
  const terminal = await openTerminal({
    columns,
    rows,
    cwd: stateDir,
    env: { ...env, SHOPCTL_HOME: dirname(stateDir) },
  });
  terminals.push(terminal);
  await terminal.type('echo "modes $(stty -g | cksum)"; echo marker', 'Enter');
  const before = (await terminal.shows(/^marker$/m)).match(/^modes (.+)$/m)?.[1];
  // The cursor does not stand at the beginning of a line when the live view begins.
  const run = 'echo $$ >watch.pid; printf "begun "; exec "$0" watch --project "$1"';
  await terminal.type(`sh -c '${run}' ${root}/cli/bin/shopctl ${name}; echo ended $?`, 'Enter');
  await terminal.shows(/^ watch-e2e ● ready [\s\S]*OUTBOX/);
  const pid = Number(await readFile(join(stateDir, 'watch.pid'), 'utf8'));
  return { terminal, pid, before };
}

/** The shell is back on its own screen, with its earlier lines, a cursor, and the modes it had. */
async function expectGivenBack(terminal: Terminal, before: string | undefined) {
  await eventually(
    'the first screen and the cursor to be back',
    { withinMs: 10_000, seen: terminal.state },
    async () => {
      const { alternate, cursor } = await terminal.state();
      return !alternate && cursor;
    },
  );
  await terminal.shows(/^marker$/m);
  await terminal.type('echo "now $(stty -g | cksum)"', 'Enter');
  expect((await terminal.shows(/^now .+$/m)).match(/^now (.+)$/m)?.[1]).toBe(before);
}

describe.skipIf(noTmux !== undefined)('in a terminal', () => {
  it('shows a rising outbox, the band of the fault and its lease, and that it drains once the fault is taken back', async () => {
    const { terminal, before } = await open();
    await terminal.type('l');
    await terminal.shows(/Start a load/);
    await terminal.type('10 o', 'Enter');
    await terminal.shows(/load 10\/s, \d+ sent/);

    await terminal.type('f');
    await terminal.shows(/Inject a fault: which/);
    await terminal.type('down', 'Enter');
    await terminal.shows(/Inject down: where/);
    await terminal.type('orders-broker', 'Enter');
    await terminal.shows(/orders-broker down is in effect/);

    const rising = await terminal.shows(/OUTBOX ([6-9]\d|\d{3,}), rising \d+\.\d\/s/);
    console.info(rising);
    expect(rising).toMatch(/│ *[▁▂▃▄▅▆▇█]{2,}/);
    expect(rising).toMatch(/▒{2,}/);
    expect(rising).toMatch(/▒ orders-broker down 0:\d\d left/);
    expect(rising).toMatch(/▒ 1 fault/);

    await terminal.resize(160, 50);
    expect(await terminal.shows(/EVENTS[\s\S]*orders-broker +\w{6} down: /)).toMatch(/▒orders-broker {4}/);
    await terminal.resize(80, 24);

    await terminal.type('l');
    await terminal.shows(/load ended: \d+ orders/);
    await terminal.type('c');
    await terminal.shows(/Take back a fault/);
    await terminal.type('', 'Enter');
    await terminal.shows(/orders-broker down: taken back/);
    await terminal.shows(/OUTBOX drained \d\d+ in \d+ s/, 30_000);
    expect(await terminal.shows(/no fault/)).toContain('▒ orders-broker down ended');
    await terminal.type('q');
    await terminal.shows(/ended 0$/m);
    await expectGivenBack(terminal, before);
  });

  it('places an order with a key, and shows its trace with Enter', async () => {
    const { terminal, before } = await open();
    await terminal.type('o');
    const id = (await terminal.shows(/order \w{8} Confirmed in/)).match(/order (\w{8}) Confirmed/)?.[1];
    await terminal.shows(new RegExp(`▸\\d\\d:\\d\\d:\\d\\d ${id} ✓ Confirmed`));
    await terminal.type('', 'Enter');
    await terminal.shows(/POST \/api\/orders/);
    await eventually('the end of the whole trace', { withinMs: 15_000, seen: terminal.screen }, async () => {
      await terminal.type('', 'End');
      return (await terminal.screen()).includes('31 spans in 6 services, 16 SQL over 5 databases');
    });
    await terminal.type('', 'Tab');
    await terminal.shows(/▸ timeline/);
    await terminal.type('', 'Escape');
    await terminal.shows(/OUTBOX/);
    await terminal.type('q');
    await terminal.shows(/ended 0$/m);
    await expectGivenBack(terminal, before);
  });

  const signal = (name: NodeJS.Signals) => (_: Terminal, pid: number) => void process.kill(pid, name);

  it.each([
    ['SIGTERM', signal('SIGTERM'), /ended 143$/m],
    ['Ctrl-C', (terminal: Terminal) => terminal.type('', 'C-c'), /ended 130$/m],
    ['SIGHUP', signal('SIGHUP'), /ended 143$/m],
    ['SIGKILL', signal('SIGKILL'), /^shopctl watch was killed/m],
  ])('gives the terminal back after %s', async (_, end, says) => {
    const { terminal, pid, before } = await open();
    expect(await terminal.state()).toEqual({ alternate: true, cursor: false });
    await end(terminal, pid);
    await terminal.shows(says);
    await expectGivenBack(terminal, before);
  });
});
