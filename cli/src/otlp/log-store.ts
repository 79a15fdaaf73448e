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
  /** Received both ways, over OTLP and from standard output. */
  duplicateRecords: number;
  droppedRecords: number;
}

export interface LogStore {
  add(data: LogsData): void;
  /**
   * Takes a service's line of pino JSON as it stood on its standard output. A line without a trace id, or that is not
   * JSON, is not kept. What came over OTLP as well is kept once.
   */
  addLine(line: string): void;
  /** Records of one trace in order of time. */
  ofTrace(traceId: string): LogRecord[];
  stats(): Readonly<LogStats>;
}

/** How a record came: its process sent it, or it stood on the standard output. */
type Way = 'otlp' | 'output';

/** Fields of a log line that have a separate place in a record. */
const OWN_FIELDS = new Set(['level', 'time', 'service', 'instance', 'version', 'track', 'msg', 'trace_id', 'span_id']);

/** Log records in bounded memory, found by trace id. */
export function createLogStore(limits: LogLimits): LogStore {
  /** Records in order of arrival with their sizes; a Map drops its oldest entry cheaply. */
  const kept = new Map<LogRecord, number>();
  const byTrace = new Map<string, LogRecord[]>();
  /** How often a line has come each way; held by the first record of it. */
  const arrivals = new WeakMap<LogRecord, Record<Way, number>>();
  const stats: LogStats = { records: 0, bytes: 0, receivedRecords: 0, duplicateRecords: 0, droppedRecords: 0 };

  /** The same line can be there twice: each way has its own count of it, and only what one way has more is new. */
  function isNew(record: LogRecord, way: Way): boolean {
    const siblings = (byTrace.get(String(record.traceId)) ?? []).filter((other) => isSame(other, record));
    const counted = arrivals.get(siblings[0] ?? record) ?? { otlp: 0, output: 0 };
    counted[way]++;
    if (siblings.length === 0) arrivals.set(record, counted);
    return counted[way] > siblings.length;
  }

  function keep(record: LogRecord, bytes: number, way: Way): void {
    stats.receivedRecords++;
    if (record.traceId === undefined) return;
    if (!isNew(record, way)) {
      stats.duplicateRecords++;
      return;
    }
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
              time: Math.round(nanosToMs(record.timeUnixNano)),
              service,
              instance,
              level: (record.severityText ?? 'info').toLowerCase(),
              message,
              traceId: record.traceId || undefined,
              spanId: record.spanId || undefined,
              attributes,
            },
            size,
            'otlp',
          );
        }
      }
    },
    addLine(line) {
      // Parsing every line would cost more than all the rest; only lines of traces are wanted.
      if (!line.includes('"trace_id"')) return;
      const record = parseLine(line);
      if (record !== undefined) keep(record, line.length + 200, 'output');
    },
    ofTrace: (traceId) => (byTrace.get(traceId) ?? []).toSorted((a, b) => a.time - b.time),
    stats: () => ({ ...stats, records: kept.size }),
  };
}

/** Attributes need not be equal: OTLP has no null. */
function isSame(one: LogRecord, other: LogRecord): boolean {
  return (
    one.time === other.time &&
    one.spanId === other.spanId &&
    one.instance === other.instance &&
    one.message === other.message
  );
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
