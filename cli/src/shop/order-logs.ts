import { type LogLine, logFiles, openLog } from '../platform/log-reader.ts';

/** What the platform's logs hold of a trace, in order of time. */
export async function readLogsOfTrace(logDir: string, traceId: string): Promise<LogLine[]> {
  const names = await logFiles(logDir, []);
  const lines = await Promise.all(names.map((name) => openLog(logDir, name).read()));
  return lines
    .flat()
    .filter(({ record }) => record?.trace_id === traceId)
    .sort((a, b) => a.timeMs - b.timeMs);
}
