import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleCli, type CliBundle } from '../../test/support/cli-bundle.ts';
import type { CommandDeps } from './command-context.ts';
import { addFaultOptions } from './commands/chaos/fault-options.ts';
import { completionScript, describeProgram } from './commands/completion/completion.ts';
import { parsePort, parsePositive, parseProviders, parseReplicas, parseSince } from './commands/option-values.ts';
import { errorCodes } from './error-codes.ts';
import { exitCodes } from './exit-codes.ts';
import { createProgram, registersFor } from './main.ts';
import { cloneRoot } from './platform/project.ts';
import { VERSION } from './version.ts';

const run = promisify(execFile);

let built: CliBundle;
beforeAll(async () => {
  built = await bundleCli('cli/src/shopctl.ts');
});
afterAll(() => built?.[Symbol.asyncDispose]());

/** The real command line in a separate process, on a project that does not run. */
function shopctl(...args: string[]) {
  return shopctlIn(join(cloneRoot(), 'no-such-folder'), ...args);
}

/** The same with its state in another folder. */
async function shopctlIn(home: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, SHOPCTL_HOME: home, NO_COLOR: '1', ...built.env };
  return run(process.execPath, [built.file, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

const program = createProgram({} as CommandDeps, await registersFor([]));
addFaultOptions(program);

describe('exit codes', { timeout: 20_000 }, () => {
  it.each([
    [['--help'], exitCodes.ok],
    [['--version'], exitCodes.ok],
    [['up', '--help'], exitCodes.ok],
    [[], exitCodes.usage],
    [['unknown'], exitCodes.usage],
    [['up', '--no-such-option'], exitCodes.usage],
    [['up', 'ordes'], exitCodes.usage],
    [['up', '--replicas', 'orders=0'], exitCodes.usage],
    [['status', '--project', 'Not A Name'], exitCodes.usage],
    [['-p', 'Not A Name', 'status'], exitCodes.usage],
    [['-p', 'other', 'status'], exitCodes.notRunning],
    [['up', '--port', '70000'], exitCodes.usage],
    [['chaos', 'inject', 'orders-payments:latency,latency=3s'], exitCodes.notRunning],
    [['chaos', 'inject', 'orders-payments:latency,latency'], exitCodes.usage],
    [['chaos', 'inject', 'orders-payments'], exitCodes.usage],
    [['chaos', 'run', 'E08', '--repeat', '0'], exitCodes.usage],
    [['chaos', 'run', 'E08', '--seed-bug', 'no-such-bug'], exitCodes.usage],
    [['chaos', 'run', 'E08', '--junit', '/no/such/folder/out.xml'], exitCodes.usage],
    [['chaos', 'matrix', '--sample', '0'], exitCodes.usage],
    [['verify', '--timeout', '1e12'], exitCodes.usage],
    [['status'], exitCodes.notRunning],
    [['restart', 'orders'], exitCodes.notRunning],
    [['wait'], exitCodes.notRunning],
    [['down'], exitCodes.ok],
  ])('%j ends with %i', async (args, expected) => {
    expect((await shopctl(...args)).code).toBe(expected);
  });

  it('says on stderr what to do when nothing runs, and nothing on stdout', async () => {
    const { stdout, stderr } = await shopctl('status', '--json');
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'platform_not_running', what: 'platform not running', exitCode: 4 },
    });
  });

  it('names the project in the commands that it advises', async () => {
    expect((await shopctl('status', '-p', 'mine')).stderr).toContain('start it with "shopctl up -p mine"');
  });

  it('says what is wrong with a command line, why, and where to look', async () => {
    const { stdout, stderr } = await shopctl('load', 'run', 'smoke', '--rate', 'x');
    expect(stdout).toBe('');
    expect(stderr).toBe(
      "error: option '--rate <orders>' argument 'x' is invalid\n  why:  expected a whole number, 0 or more\n  next: see \"shopctl load run --help\"\n",
    );
    expect((await shopctl('statsu')).stderr).toContain('why:  Did you mean status?');
  });

  it.each([[['--json']], [['--format', 'json']]])('says it as JSON where %j is asked for', async (asked) => {
    const { stderr } = await shopctl('status', '--nope', ...asked);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'unknown_option', what: "unknown option '--nope'", exitCode: 2 },
    });
  });

  it.each([
    [['statsu'], 'unknown_command'],
    [['up', '--port', '70000'], 'invalid_argument'],
    [['chaos', 'inject'], 'invalid_usage'],
    [['up', 'ordes'], 'unknown_service'],
    [['status', '--project', 'Not A Name'], 'invalid_argument'],
    [['chaos', 'inject', 'orders-payments:latency,latency'], 'invalid_fault'],
    [['chaos', 'inject', 'orders', 'freeze'], 'unknown_fault'],
    [['chaos', 'run', 'E999'], 'unknown_experiment'],
    [['chaos', 'run', 'E08', '--junit', '/no/such/folder/out.xml'], 'report_not_writable'],
    [['load', 'run', 'smokey'], 'unknown_scenario'],
    [['order', 'get', 'xyz'], 'invalid_id'],
    [['flags', 'on', 'no-such-flag'], 'unknown_flag'],
    [['status', '-p', 'other'], 'platform_not_running'],
  ] as const)('of %j have the code %s, with its exit code', async (args, code) => {
    const { stderr } = await shopctl(...args, '--json');
    expect(JSON.parse(stderr)).toMatchObject({ error: { code, exitCode: errorCodes[code].exitCode } });
  });

  it('a project named before the command is named in what to do next', async () => {
    const { stderr } = await shopctl('-p', 'other', 'status');
    expect(stderr).toContain('"shopctl up -p other"');
  });

  it('for an option of another tool ours is named', async () => {
    const { code, stderr } = await shopctl('chaos', 'inject', 'orders', 'pause', '--for', '20s');
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain('Did you mean --ttl?');
  });

  it('of doctor report a state that cannot be read, with everything else', async () => {
    const home = await mkdtemp(join(tmpdir(), 'shop-doctor-'));
    await mkdir(join(home, 'shop'));
    await writeFile(join(home, 'shop', 'state.json'), '{broken');
    const { code, stdout } = await shopctlIn(home, 'doctor');
    await rm(home, { recursive: true });
    expect(code).toBe(exitCodes.failed);
    expect(stdout).toMatch(/FAIL +leftovers: cannot read .*state\.json/);
    expect(stdout).toContain('pass    node');
  });

  it('of runs that another version made: they are listed, and have no report', async () => {
    const home = await mkdtemp(join(tmpdir(), 'shop-runs-'));
    const folder = join(home, 'shop', 'chaos', 'runs', '20260101-000000-E08-1');
    await mkdir(folder, { recursive: true });
    const records = [
      { type: 'run', at: '2026-01-01T00:00:00.000Z', ms: 0, version: 1, experiment: { id: 'E08', title: 'slow' } },
      { type: 'verdict', at: '2026-01-01T00:00:09.000Z', ms: 9_000, verdict: 'deviated' },
    ];
    await writeFile(join(folder, 'journal.jsonl'), records.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const listed = await shopctlIn(home, 'chaos', 'runs');
    const reported = await shopctlIn(home, 'chaos', 'report');
    await rm(home, { recursive: true });
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('none (of another version)') });
    expect(reported).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining('another version') });
  });

  it('says that a result could not be written', async (test) => {
    if (!existsSync('/dev/full')) return test.skip('this machine has no /dev/full');
    const writing = run('sh', ['-c', '"$0" "$1" version >/dev/full', process.execPath, built.file]);
    await expect(writing).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the result cannot be written'),
    });
  });
});

describe('the program', () => {
  it('of a command line that names a command has that one, as it is among all of them', async () => {
    for (const command of program.commands) {
      for (const before of [[], ['-p', 'other'], ['--project', 'other'], ['--project=other']]) {
        const own = createProgram({} as CommandDeps, await registersFor([...before, command.name(), '--json']));
        addFaultOptions(own);
        const same = own.commands.find((one) => one.name() === command.name());
        expect(same?.helpInformation()).toBe(command.helpInformation());
      }
    }
    expect(createProgram({} as CommandDeps, await registersFor(['status'])).commands).toHaveLength(1);
  });

  it.each([
    [[]],
    [['--help']],
    [['--help', 'status']],
    [['help', 'status']],
    [['-p', 'status']],
    [['statsu', 'status']],
    [['completion', 'bash']],
    [['toString']],
  ])('of the command line %j has all commands', async (args) => {
    expect(createProgram({} as CommandDeps, await registersFor(args)).commands).toHaveLength(program.commands.length);
  });

  it('has the version of its package', async () => {
    const manifest = JSON.parse(await readFile(join(cloneRoot(), 'cli/package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(manifest.version);
  });

  it('describes every command', () => {
    for (const command of program.commands) expect(command.description(), command.name()).not.toBe('');
  });

  it('lists none of the options of a command in the help of its subcommands', () => {
    const plan = program.commands.find((one) => one.name() === 'deploy')?.commands.find((one) => one.name() === 'plan');
    expect(plan?.helpInformation()).toMatch(
      /--rate .*Global Options:\n +-V, --version +output the version number\n*$/s,
    );
  });
});

it.each([
  'scale',
  'drain',
  'reroute',
  'shed',
  'ops db terminate',
  'ops db writable',
  'ops db free',
  'ops broker free',
  'ops broker bind',
  'ops clock sync',
  'dlq retry',
  'dlq discard',
])('an operator can have "%s" say what it would do, as JSON, and give a reason', (words) => {
  const found = words
    .split(' ')
    .reduce<Command | undefined>((command, word) => command?.commands.find((one) => one.name() === word), program);
  expect(found?.options.map(({ long }) => long)).toEqual(expect.arrayContaining(['--dry-run', '--json', '--reason']));
});

describe('completion', () => {
  const shape = describeProgram(program);

  it.each(['bash', 'zsh', 'fish'] as const)('for %s knows every command and every service', (shell) => {
    const script = completionScript(shell, shape);
    for (const { name } of shape.subcommands) expect(script).toContain(name);
    for (const service of ['gateway', 'orders', 'shipping']) expect(script).toContain(service);
  });

  it.each([
    [['shopctl', 're'], 'restart'],
    [['shopctl', 'restart', 'ord'], 'orders'],
    [['shopctl', 'up', '--wait-t'], '--wait-timeout'],
    [['shopctl', 'completion', 'f'], 'fish'],
    [['shopctl', 'chaos', 'inject', 'orders-p'], 'orders-payments'],
    [['shopctl', 'chaos', 'inject', 'lat'], 'latency'],
    [['shopctl', 'chaos', 'inject', '--average'], '--average-size'],
  ])('in bash completes %j to %s', async (words, expected) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const script = `${completionScript('bash', shape)}
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _shopctl; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['-c', script]);
    expect(stdout.trim().split(' ')).toContain(expected);
  });
});

describe('option values', () => {
  it('replicas may be repeated or separated by commas', () => {
    expect(parseReplicas('stock=3', parseReplicas('orders=2,catalog=1'))).toEqual({ orders: 2, catalog: 1, stock: 3 });
  });

  it.each(['orders', 'orders=', 'orders=0', 'orders=10', 'orders=1=2', '=2'])('replicas refuse %s', (text) => {
    expect(() => parseReplicas(text)).toThrow();
  });

  it('providers must be known', () => {
    expect(parseProviders('postgres=docker')).toEqual({ postgres: 'docker' });
    expect(() => parseProviders('mysql=docker')).toThrow('postgres');
    expect(() => parseProviders('postgres=moon')).toThrow('embedded');
  });

  it.each(['0', '00', '-1', '1.5', 'x', ''])('a positive number is not %j', (text) => {
    expect(() => parsePositive(text)).toThrow('1 or more');
  });

  it('a port to listen on may be 0, for any free one', () => {
    expect(parsePort('0')).toBe(0);
    expect(parsePort('8081')).toBe(8081);
    for (const text of ['00', '-1', '65536', '1.5', '']) expect(() => parsePort(text)).toThrow('0 for any free one');
  });

  it('since is an age or a time', () => {
    expect(parseSince('90s', 100_000)).toBe(10_000);
    expect(parseSince('2026-01-01T00:00:00Z')).toBe(Date.UTC(2026, 0, 1));
    expect(() => parseSince('yesterday')).toThrow('expected');
  });
});
