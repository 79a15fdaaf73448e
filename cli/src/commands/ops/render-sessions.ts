import {
  countsOf,
  type DatabaseSession,
  ownerOf,
  type SessionName,
  type SessionReport,
} from '../../operations/sessions.ts';
import { formatTable } from '../../output/table.ts';
import { cutText } from '../../output/width.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { DatabaseName } from '../../topology/databases.ts';

interface Layout {
  readonly all: boolean;
  readonly columns: number;
}

/** The sessions of each database, and how full the server is. */
export function describeSessions(report: SessionReport, databases: readonly DatabaseName[], layout: Layout): string {
  const { connections, maximum, reserved } = report;
  const full = connections >= maximum - reserved ? ': full for services' : '';
  const server = `${connections} of ${maximum} connections, ${reserved} of them for superusers only${full}`;
  const parts = databases.map((database) =>
    describeDatabase(
      database,
      report.sessions.filter((session) => session.database === database),
      layout,
    ),
  );
  return [...parts, server].join('\n\n');
}

function describeDatabase(
  database: DatabaseName,
  sessions: readonly DatabaseSession[],
  { all, columns }: Layout,
): string {
  const blockers = new Set(sessions.flatMap(({ blockedBy }) => blockedBy));
  const isShown = (session: DatabaseSession) => all || session.state !== 'idle' || blockers.has(session.pid);
  const shown = sessions.filter(isShown);
  const idle = sessions.filter((session) => !isShown(session));
  const table = formatTable(
    ['PID', 'ROLE', 'APPLICATION', 'STATE', 'TRANSACTION'],
    shown.map(({ pid, role, application, state, transactionMs }) => [
      String(pid),
      role,
      application,
      state,
      transactionMs === null ? '-' : formatDuration(transactionMs),
    ]),
  ).split('\n');
  const [header, ...rows] = table;
  const lines = shown.flatMap((session, index) => [
    rows[index] as string,
    ...detailsOf(session, sessions).map((detail) => cutText(`  ${detail}`, columns)),
  ]);
  return [
    `${database}: ${sessions.length} ${sessions.length === 1 ? 'session' : 'sessions'}`,
    ...(shown.length > 0 ? [header as string, ...lines] : []),
    ...(idle.length > 0 ? [`idle: ${countsOf(idle)}`] : []),
  ].join('\n');
}

function detailsOf({ pid, waitsFor, blockedBy, locks, statement }: DatabaseSession, all: readonly DatabaseSession[]) {
  const blocked = all.filter((other) => other.blockedBy.includes(pid)).map((other) => other.pid);
  return [
    ...(blocked.length > 0 ? [`blocks ${blocked.join(', ')}`] : []),
    ...(blockedBy.length > 0 ? [`blocked by ${blockedBy.join(', ')}`] : []),
    ...(waitsFor !== null && blockedBy.length === 0 ? [waitOf(waitsFor)] : []),
    ...(locks.length > 0 ? [`holds ${locks.map(({ mode, table }) => `${mode} on ${table}`).join(', ')}`] : []),
    ...(statement === '' ? [] : [statement]),
  ];
}

/** PostgreSQL's names of waits are explained in its manual, table 27.4; the usual one is that of every idle session. */
function waitOf(waitsFor: string): string {
  return waitsFor === 'Client ClientRead' ? 'waits for its client' : `waits for ${waitsFor}`;
}

/** One session, for a sentence. */
export function nameOf(session: SessionName): string {
  return `session ${session.pid} of ${ownerOf(session)} in ${session.database}, since ${session.startedAt}`;
}
