// Goal: the live view shows a broker fault while it acts, does what its keys say, and gives the terminal back however it
// ends. Method: the built command in a real terminal (tmux) on a real platform; keys are typed, the screen is read.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { identifyProcess } from '../../cli/src/process/process-identity.ts';
import { ownCpuMs, readProcessTable } from '../../cli/src/process/process-table.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { eventually } from './support/eventually.ts';
import { noTmux, openTerminal, type Terminal } from './support/tmux.ts';

if (noTmux !== undefined) console.warn(`the live view is not driven here: ${noTmux}`);

/** Over which the cost of the live view is measured: 0.2 % are a step of the system's account. */
const WINDOW_MS = 5_000;

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
async function open(columns = 80, rows = 24, first = '') {
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
  const before = await readModes(terminal, 'before');
  // The cursor does not stand at the beginning of a line when the live view begins.
  const run = 'echo $$ >watch.pid; printf "begun "; exec "$0" watch --project "$1"';
  await terminal.type(`${first}sh -c '${run}' ${root}/cli/bin/shopctl ${name}; echo ended $?`, 'Enter');
  await terminal.shows(/^ watch-e2e ● ready [\s\S]*OUTBOX/);
  const pid = Number(await readFile(join(stateDir, 'watch.pid'), 'utf8'));
  return { terminal, pid, before };
}

/** The modes of a terminal as its shell prints them, in a line that begins with this word. */
async function readModes(terminal: Terminal, word: string): Promise<string> {
  await terminal.type(`echo "${word} $(stty -g | cksum)"`, 'Enter');
  // Typed before the shell has written its prompt, the output stands behind that prompt.
  const line = new RegExp(`${word} (\\d+ \\d+)$`, 'm');
  const [, modes] = line.exec(await terminal.shows(line)) ?? [];
  if (modes === undefined) throw new Error('the screen shows no modes');
  return modes;
}

/** The shell is back on its own screen, with its earlier lines, a cursor, and the modes it had. */
async function expectGivenBack(terminal: Terminal, before: string) {
  await eventually(
    'the first screen and the cursor to be back',
    { withinMs: 10_000, seen: terminal.state },
    async () => {
      const { alternate, cursor } = await terminal.state();
      return !alternate && cursor;
    },
  );
  expect(await terminal.shows(/before \d+ \d+$/m)).toContain(`before ${before}`);
  expect(await readModes(terminal, 'now')).toBe(before);
}

/** CPU of a process in percent of one core, over that time: the system's account of it, whatever else the machine does. */
async function cpuPercent(pid: number, windowMs: number): Promise<number> {
  const watched = await identifyProcess(pid);
  const look = async () => {
    const cpuMs = watched && ownCpuMs(await readProcessTable(), watched);
    if (cpuMs === undefined) throw new Error(`process ${pid} has ended`);
    return { cpuMs, atMs: performance.now() };
  };
  const first = await look();
  await delay(windowMs);
  const last = await look();
  return (100 * (last.cpuMs - first.cpuMs)) / (last.atMs - first.atMs);
}

describe.skipIf(noTmux !== undefined)('in a terminal', () => {
  it('shows a rising outbox, the band of the fault and its lease, and that it drains once the fault is reverted', async () => {
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
    await terminal.shows(/Revert a fault/);
    await terminal.type('', 'Enter');
    await terminal.shows(/orders-broker down: reverted/);
    await terminal.shows(/OUTBOX drained \d\d+ in \d+ s/, 30_000);
    expect(await terminal.shows(/no fault/)).toContain('▒ orders-broker down ended');
    await terminal.type('q');
    await terminal.shows(/ended 0$/m);
    await expectGivenBack(terminal, before);
  });

  it('draws a whole screen again when the terminal gets narrower and wider, which moves the lines that it wraps', async () => {
    const { terminal, before } = await open(160, 50);
    for (const columns of [100, 130, 90, 160]) await terminal.resize(columns, 50);
    const names = ['gateway', 'orders', 'catalog', 'stock', 'payments', 'shipping'];
    const services = names.map((name) => ` ${name} +● 1/1 ready [^\\n]*\\n`).join('');
    const screen = await terminal.shows(new RegExp(`^ watch-e2e ● ready [^\\n]*\\n SERVICE [^\\n]*\\n${services}`));
    expect(screen.match(/ OUTBOX /g)).toHaveLength(1);
    await terminal.type('q');
    await terminal.shows(/ended 0$/m);
    await expectGivenBack(terminal, before);
  });

  it('draws a whole screen again when it learns of several sizes at a time, and has the one that it knew', async () => {
    // Without job control, the shell does not take the terminal from a program that is stopped.
    const { terminal, before, pid } = await open(160, 50, 'set +m; ');
    const whole =
      /^ watch-e2e ● ready [^\n]* no fault [^\n]*\n SERVICE [^\n]* SAGAS [^\n]*\n gateway [^\n]* Confirmed /;
    await terminal.shows(whole);
    const { stdout: tty } = await promisify(execFile)('ps', ['-o', 'tty=', '-p', String(pid)]);
    const device = `/dev/${tty.trim()}`;
    /** tmux passes it on to the device a moment later. */
    const resizeTo = async (columns: number) => {
      await terminal.resize(columns, 50);
      await eventually(`${columns} columns`, { withinMs: 15_000 }, async () => {
        const { stdout } = await promisify(execFile)('sh', ['-c', `stty size <${device}`]);
        return stdout.trim() === `50 ${columns}`;
      });
    };
    process.kill(pid, 'SIGSTOP');
    await resizeTo(100);
    // In place of a frame that was on its way, whose lines are wrapped now.
    await writeFile(device, `\u001b[H${'wrapped '.repeat(40)}`);
    await resizeTo(160);
    await terminal.shows(/wrapped/);
    process.kill(pid, 'SIGCONT');
    await terminal.shows(whole);
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

  const isLinux = process.platform === 'linux';
  if (!isLinux) console.warn('the cost of the live view is not measured here: CPU time is read from /proc, on Linux');

  it.skipIf(!isLinux)('takes less than 5 % of one core once it runs', async () => {
    const { terminal, pid } = await open();
    await terminal.type('o');
    await terminal.shows(/order \w{8} Confirmed in/);
    // Fresh code and a busy machine make work dearer for a while, and nothing makes it cheaper: one window is enough.
    const windows: number[] = [];
    const seen = async () => windows.map((percent) => `${percent.toFixed(1)} %`).join(', ');
    await eventually(`${WINDOW_MS} ms below 5 % of one core`, { withinMs: 40_000, seen }, async () => {
      const percent = await cpuPercent(pid, WINDOW_MS);
      windows.push(percent);
      return percent > 0 && percent < 5;
    });
    console.info(`the live view took ${await seen()} of one core`);
    await terminal.type('q');
    await terminal.shows(/ended 0$/m);
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
