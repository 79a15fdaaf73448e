import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../exit-codes.ts';
import type { DatabaseSession } from '../../operations/sessions.ts';
import { describeSessions } from './render-sessions.ts';
import { runSessions, runTerminate, runWritable } from './run-ops-db.ts';

// Goal: what is wrong with a command line is refused before a supervisor is asked; sessions are shown in 80 columns.
const deps = {} as never;

describe('shopctl ops db', () => {
  it.each([
    ['without a session', [], {}, 'no session was named'],
    ['with both ways to name sessions', [7], { application: 'orders-1' }, 'pids and --application exclude each other'],
    ['with one start for two pids', [7, 8], { started: '2026-01-01T00:00:00.000000Z' }, '--started belongs to one pid'],
  ])('terminate %s is refused', async (_, pids, options, what) => {
    await expect(runTerminate(pids, options, deps)).rejects.toMatchObject({ code: 'invalid_usage', what });
  });

  it('refuses the name of an unknown database, and names the nearest', async () => {
    const refused = { code: 'unknown_service', exitCode: exitCodes.usage, what: expect.stringContaining('"orders"') };
    await expect(runSessions('order', {}, deps)).rejects.toMatchObject(refused);
    await expect(runWritable('orders-dn', {}, deps)).rejects.toMatchObject({ code: 'unknown_service' });
  });
});

const session: DatabaseSession = {
  pid: 6092,
  database: 'orders',
  role: 'orders',
  application: 'orders-1',
  state: 'idle',
  startedAt: '2026-11-23T22:59:57.943570Z',
  transactionMs: null,
  waitsFor: 'Client ClientRead',
  blockedBy: [],
  locks: [],
  statement: 'COMMIT',
};

const report = (sessions: readonly DatabaseSession[], connections = sessions.length) => ({
  connections,
  maximum: 200,
  reserved: 3,
  sessions,
});

describe('the text of sessions', () => {
  const holder: DatabaseSession = {
    ...session,
    role: 'postgres',
    application: 'psql',
    state: 'idle in transaction',
    transactionMs: 1860,
    locks: [{ mode: 'AccessExclusiveLock', table: 'orders' }],
    statement: 'LOCK TABLE "orders" IN ACCESS EXCLUSIVE MODE',
  };
  const waiter: DatabaseSession = {
    ...session,
    pid: 4715,
    state: 'active',
    transactionMs: 1490,
    waitsFor: 'Lock relation',
    blockedBy: [6092],
    statement: `INSERT INTO orders (${'id, '.repeat(40)}) VALUES (?)`,
  };

  it('says who blocks whom, and counts who is idle', () => {
    const text = describeSessions(
      report([holder, waiter, { ...session, pid: 1 }, { ...session, pid: 2 }]),
      ['orders'],
      {
        all: false,
        columns: 80,
      },
    );
    expect(text.split('\n')).toEqual([
      'orders: 4 sessions',
      'PID   ROLE      APPLICATION  STATE                TRANSACTION',
      '6092  postgres  psql         idle in transaction  1.86 s',
      '  blocks 4715',
      '  waits for its client',
      '  holds AccessExclusiveLock on orders',
      '  LOCK TABLE "orders" IN ACCESS EXCLUSIVE MODE',
      '4715  orders    orders-1     active               1.49 s',
      '  blocked by 6092',
      expect.stringMatching(/^ {2}INSERT INTO orders \(id, .*…$/),
      'idle: 2 of orders (orders-1)',
      '',
      '4 of 200 connections, 3 of them for superusers only',
    ]);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('shows an idle session that blocks another one, and with --all each of them', () => {
    const shown = (all: boolean) =>
      describeSessions(report([session, { ...waiter }, { ...session, pid: 777 }]), ['orders'], { all, columns: 80 });
    expect(shown(false)).toContain('\n6092 ');
    expect(shown(false)).not.toContain('\n777 ');
    expect(shown(true)).toContain('\n777 ');
  });

  it('says that the server is full for services', () => {
    expect(describeSessions(report([session], 197), ['orders'], { all: false, columns: 80 })).toContain(
      '197 of 200 connections, 3 of them for superusers only: full for services',
    );
  });
});
