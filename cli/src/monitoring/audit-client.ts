import { callJson, stream } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { AuditEvent } from './audit-meter.ts';

/** How often recent orders are audited where nothing else is said, in ms. */
export const AUDIT_EVERY_MS = 10_000;

/** Events of the audit of recent orders; it goes on until the signal aborts, or the loop is left. Throws CliError (4) without a supervisor. */
export function watchAudit(project: Project, everyMs: number, signal: AbortSignal): AsyncIterable<AuditEvent> {
  return stream({ project, method: 'POST', path: '/v1/audit/watch', body: { everyMs }, signal });
}

/** Has recent orders audited also while there is no watcher, or not any more. Throws CliError (4) without a supervisor. */
export async function switchAudit(project: Project, isOn: boolean): Promise<void> {
  const body = isOn ? { everyMs: AUDIT_EVERY_MS } : {};
  await callJson({ project, method: 'POST', path: '/v1/audit', body });
}
