import {
  type AttributeMap,
  type LogsData,
  nanosToMs,
  plainAttributes,
  plainValue,
  sourceOf,
  type Value,
} from './otlp-json.ts';

export interface LogLimits {
  /** Characters of all kept records; the oldest are dropped beyond it. */
  readonly maxLogBytes: number;
}

export interface LogRecord {
  /** ms since 1970. */
  readonly time: number;
  readonly service: string;
  readonly instance: string;
  readonly level: string;
  readonly message: string;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly attributes: AttributeMap;
}

export interface LogStats {
  records: number;
  bytes: number;
  receivedRecords: number;
  droppedRecords: number;
}

export interface LogStore {
  add(data: LogsData): void;
  /**
   * Takes a service's line of pino JSON as it stood on its standard output. A line without a trace id, or that is not
   * JSON, is not kept.
   */
  addLine(line: string): void;
  /** Records of one trace in order of time. */
  ofTrace(traceId: string): LogRecord[];
  stats(): Readonly<LogStats>;
}

/** Fields of a log line that have a separate place in a record. */
const OWN_FIELDS = new Set(['level', 'time', 'service', 'instance', 'version', 'track', 'msg', 'trace_id', 'span_id']);

/** Log records in bounded memory, found by trace id. */
export function createLogStore(limits: LogLimits): LogStore {
  /** Records in order of arrival with their sizes; a Set drops its oldest entry cheaply. */
  const kept = new Map<LogRecord, number>();
  const byTrace = new Map<string, LogRecord[]>();
  const stats: LogStats = { records: 0, bytes: 0, receivedRecords: 0, droppedRecords: 0 };

  function keep(record: LogRecord, bytes: number): void {
    stats.receivedRecords++;
    if (record.traceId === undefined) return;
    kept.set(record, bytes);
    stats.bytes += bytes;
    const siblings = byTrace.get(record.traceId);
    if (siblings === undefined) byTrace.set(record.traceId, [record]);
    else siblings.push(record);
    makeRoom();
  }

  function makeRoom(): void {
    for (const [record, bytes] of kept) {
      if (stats.bytes <= limits.maxLogBytes) return;
      kept.delete(record);
      stats.bytes -= bytes;
      stats.droppedRecords++;
      const siblings = byTrace.get(String(record.traceId)) ?? [];
      siblings.splice(siblings.indexOf(record), 1);
      if (siblings.length === 0) byTrace.delete(String(record.traceId));
    }
  }

  return {
    add(data) {
      for (const { resource, scopeLogs } of data.resourceLogs ?? []) {
        const { service, instance } = sourceOf(plainAttributes(resource?.attributes));
        for (const record of (scopeLogs ?? []).flatMap(({ logRecords }) => logRecords ?? [])) {
          const body = plainValue(record.body);
          const message = typeof body === 'string' ? body : JSON.stringify(body);
          const attributes = plainAttributes(record.attributes);
          const size = message.length + JSON.stringify(attributes).length + 200;
          keep(
            {
              time: nanosToMs(record.timeUnixNano),
              service,
              instance,
              level: (record.severityText ?? 'info').toLowerCase(),
              message,
              traceId: record.traceId || undefined,
              spanId: record.spanId || undefined,
              attributes,
            },
            size,
          );
        }
      }
    },
    addLine(line) {
      // Parsing every line would cost more than all the rest; only lines of traces are wanted.
      if (!line.includes('"trace_id"')) return;
      const record = parseLine(line);
      if (record !== undefined) keep(record, line.length + 200);
    },
    ofTrace: (traceId) => (byTrace.get(traceId) ?? []).toSorted((a, b) => a.time - b.time),
    stats: () => ({ ...stats, records: kept.size }),
  };
}

/** Undefined when the line is not a JSON object: a service may print something that is not a log record. */
function parseLine(line: string): LogRecord | undefined {
  let fields: Record<string, Value>;
  try {
    fields = JSON.parse(line) as Record<string, Value>;
  } catch {
    return undefined;
  }
  if (typeof fields !== 'object' || fields === null || typeof fields.trace_id !== 'string') return undefined;
  return {
    time: Date.parse(String(fields.time)) || 0,
    service: String(fields.service ?? ''),
    instance: String(fields.instance ?? ''),
    level: String(fields.level ?? 'info'),
    message: String(fields.msg ?? ''),
    traceId: fields.trace_id,
    spanId: typeof fields.span_id === 'string' ? fields.span_id : undefined,
    attributes: Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN_FIELDS.has(name))),
  };
}
