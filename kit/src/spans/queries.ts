import { type Context, context, type Histogram, SpanKind, trace } from '@opentelemetry/api';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';
import { durationOf } from './durations.ts';
import { Operation, type OperationOptions, serverOf } from './operation.ts';

/** A statement as it is sent; the part of `name` before the colon names the span. */
interface Query {
  readonly name?: string | undefined;
  readonly text: string;
}

/** Attributes that are the same for each run of a statement. */
type Description = Omit<OperationOptions, 'parent'>;

/** A running statement. The first end counts. */
export type RunningQuery = Pick<Operation, 'end' | 'fail'>;

/** Spans and durations of one database's statements. */
export interface QuerySpans {
  /**
   * Undefined where no request is the cause: polls are not traced. Also where the library is instrumented, which makes the
   * span of the active context; it cannot make those of several `causes`. A statement that serves several requests has a span for each,
   * with their number as an attribute; it counts once in the metric.
   */
  start(query: Query, causes?: readonly Context[]): RunningQuery | undefined;
}

/** Number of spans of this one statement: their durations must not be added up. */
const SHARED_BY = 'shop.statement.spans';

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** `url` is where the database is; only its address and name are used. */
export function createQuerySpans(url: string): QuerySpans {
  const address = new URL(url);
  const server = {
    'db.system.name': 'postgresql',
    'db.namespace': decodeURIComponent(address.pathname.slice(1)),
    ...serverOf(address, 5432),
  };
  const duration = durationOf('db.client.operation.duration');
  // Statements are constants of the program, so there are not many.
  const descriptions = new Map<string, Description>();

  function describe({ name, text }: Query): Description {
    const operation = verbOf(text);
    const summary = name === undefined ? operation : (name.split(':', 1)[0] as string);
    // Shared by all spans of the statement.
    const attributes = Object.freeze({
      ...server,
      'db.query.summary': summary,
      'db.query.text': text,
      'db.operation.name': operation,
    });
    const series = { ...server, 'db.operation.name': operation };
    return { name: summary, kind: SpanKind.CLIENT, attributes, series };
  }

  function descriptionOf(query: Query): Description {
    const key = query.name ?? query.text;
    let description = descriptions.get(key);
    if (description === undefined) {
      description = describe(query);
      descriptions.set(key, description);
    }
    return description;
  }

  return {
    start(query, causes) {
      if (causes === undefined && areLibrariesInstrumented()) return undefined;
      const given = causes ?? [context.active()];
      const [parent, ...others] = given.filter((cause) => trace.getSpan(cause) !== undefined);
      if (parent === undefined) return undefined;
      const description = descriptionOf(query);
      if (others.length === 0) return new SqlOperation({ ...description, parent }, duration);
      const attributes = { ...description.attributes, [SHARED_BY]: others.length + 1 };
      const shared = { ...description, attributes };
      return new SharedQuery([
        new SqlOperation({ ...shared, parent }, duration),
        ...others.map((other) => new SqlOperation({ ...shared, parent: other }, uncounted)),
      ]);
    },
  };
}

/** Its duration is recorded elsewhere. */
const uncounted: Pick<Histogram, 'record'> = { record() {} };

class SharedQuery implements RunningQuery {
  readonly #operations: readonly SqlOperation[];

  constructor(operations: readonly SqlOperation[]) {
    this.#operations = operations;
  }

  end(): void {
    for (const operation of this.#operations) operation.end();
  }

  fail(error: unknown): void {
    for (const operation of this.#operations) operation.fail(error);
  }
}

class SqlOperation extends Operation {
  /** Keeps the server's message out of the span: it may quote values. */
  override fail(error: unknown): void {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
    if (SQLSTATE.test(code)) this.describe({ 'db.response.status_code': code });
    const message = `PostgreSQL error ${code}`;
    this.record(error, message);
    this.endWithError(code, message);
  }
}

function verbOf(text: string): string {
  return (/\w+/.exec(text)?.[0] ?? 'SQL').toUpperCase();
}
