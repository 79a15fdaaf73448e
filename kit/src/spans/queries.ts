import { type Attributes, context, SpanKind, trace } from '@opentelemetry/api';
import { durationOf } from './durations.ts';
import { Operation } from './operation.ts';

/** A statement as it is sent; the part of `name` before the colon names the span. */
interface Query {
  readonly name?: string | undefined;
  readonly text: string;
}

/** What is the same each time a statement runs. */
interface Description {
  readonly summary: string;
  readonly attributes: Attributes;
  readonly series: Attributes;
}

export interface RunningQuery {
  end(): void;
  /** Keeps the server's message out of the span: it may quote values. */
  fail(error: unknown): void;
}

/** Spans and durations of one database's statements. */
export interface QuerySpans {
  /** Undefined where no request is the cause: polls are not traced. */
  start(query: Query): RunningQuery | undefined;
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** `url` is where the database is; only its address and name are used. */
export function createQuerySpans(url: string): QuerySpans {
  const { hostname, port, pathname } = new URL(url);
  const server = {
    'db.system.name': 'postgresql',
    'db.namespace': decodeURIComponent(pathname.slice(1)),
    'server.address': hostname,
    'server.port': Number(port || 5432),
  };
  const duration = durationOf('db.client.operation.duration');
  // Statements are constants of the program, so there are not many.
  const descriptions = new Map<string, Description>();

  function describe({ name, text }: Query): Description {
    const operation = verbOf(text);
    const summary = name === undefined ? operation : (name.split(':', 1)[0] as string);
    const attributes = {
      ...server,
      'db.query.summary': summary,
      'db.query.text': text,
      'db.operation.name': operation,
    };
    const series = { ...server, 'db.operation.name': operation };
    return { summary, attributes, series };
  }

  return {
    start(query) {
      const parent = context.active();
      if (trace.getSpan(parent) === undefined) return undefined;
      const key = query.name ?? query.text;
      let description = descriptions.get(key);
      if (description === undefined) {
        description = describe(query);
        descriptions.set(key, description);
      }
      const { summary: name, attributes, series } = description;
      return new TracedQuery(new Operation({ name, kind: SpanKind.CLIENT, attributes, parent }, duration), series);
    },
  };
}

class TracedQuery implements RunningQuery {
  private readonly operation: Operation;
  private readonly series: Attributes;

  constructor(operation: Operation, series: Attributes) {
    this.operation = operation;
    this.series = series;
  }

  end(): void {
    this.operation.end(this.series);
  }

  fail(error: unknown): void {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
    if (SQLSTATE.test(code)) this.operation.describe({ 'db.response.status_code': code });
    this.operation.fail(code, this.series, `PostgreSQL error ${code}`);
  }
}

function verbOf(text: string): string {
  return (/\w+/.exec(text)?.[0] ?? 'SQL').toUpperCase();
}
