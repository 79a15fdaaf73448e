/*
 * Goal: what a drill has injected does not outlive a supervisor that was killed, and its round does not count.
 * Method: a real platform with alerts and the built `shopctl`. The supervisor is killed (SIGKILL) while the hidden fault of a round is in
 * effect, which PostgreSQL keeps in its data; then the platform is started again.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFaults, undoFile } from '../../cli/src/platform/undo-log.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { eventually } from './support/eventually.ts';

/** A round is quiet for up to 90 s, once the platform has served for 10 s: a busy machine takes longer until then. */
const INJECTED_MS = 240_000;
const LIMIT_MS = 420_000;

/** Payments' database takes no writes. */
const SCENARIO = 'd305';

describe('a drill whose supervisor was killed', { timeout: LIMIT_MS }, () => {
  let platform: TestPlatform;

  beforeAll(async () => {
    platform = await startPlatform({ project: 'e2e-drills', env: { SHOPCTL_PROBE: 'on' } });
    const alerts = await platform.shopctl('up', '--with', 'alerts');
    expect(alerts.code, alerts.stderr).toBe(0);
  }, LIMIT_MS);
  afterAll(() => platform?.stop());

  const isReadOnly = async () => {
    const rows = await platform.query(
      'payments',
      `SELECT 1 FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
        WHERE r.rolname = 'payments' AND 'default_transaction_read_only=on' = ANY (s.setconfig)`,
    );
    return rows.length > 0;
  };

  it('is void, and its fault is reverted by the next start without being asked', async () => {
    const started = await platform.shopctl('drill', 'start', '--level', '3', '--scenario', SCENARIO, '--json');
    expect(started.code, started.stderr).toBe(0);
    const { id } = JSON.parse(started.stdout) as { id: string };
    const state = await platform.state();
    await eventually('the fault to be injected', { withinMs: INJECTED_MS }, isReadOnly);
    // On disk, and unreadable there.
    expect(await readFile(undoFile(platform.project), 'utf8')).not.toContain('payments');
    expect(await openFaults(undoFile(platform.project))).toMatchObject([{ fault: 'read-only', hidden: true }]);

    process.kill(state.supervisor.pid, 'SIGKILL');
    const refused = await platform.shopctl('chaos', 'run', 'E01', '--json');
    expect(refused.code, refused.stderr).not.toBe(0);
    const again = await platform.shopctl('up', '--with', 'alerts');
    expect(again.code, again.stderr).toBe(0);
    await eventually('writes to be taken', { withinMs: 60_000 }, async () => !(await isReadOnly()));
    await eventually('nothing to be left to undo', { withinMs: 60_000 }, async () => {
      return (await openFaults(undoFile(platform.project))).length === 0;
    });
    const order = await platform.shopctl('order', 'place', '--json', '--no-trace');
    expect(JSON.parse(order.stdout), order.stderr).toMatchObject({ status: 'Confirmed' });

    const score = await platform.shopctl('drill', 'score', id, '--json');
    expect(score.code, score.stderr).toBe(5);
    const verified = await platform.shopctl('drill', 'verify', id, '--json');
    expect(verified.code, verified.stdout).not.toBe(1);
    expect((await platform.shopctl('drill', 'status', '--json')).code).toBe(1);
  });
});
