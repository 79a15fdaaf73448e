import { SpanKind } from '@opentelemetry/api';
import { durationOf } from './durations.ts';
import { type Beginning, causeOf, Operation, serverOf } from './operation.ts';

/** A statement as it is sent; the part of `name` before the colon names the span. */
interface Query {
  readonly name?: string | undefined;
  readonly text: string;
}

/** What is the same each time a statement runs. */
type Description = Omit<Beginning, 'parent'>;

/** Spans and durations of one database's statements. */
export interface QuerySpans {
  /** Undefined where no request is the cause: polls are not traced. */
  start(query: Query): Operation | undefined;
}

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

  return {
    start(query) {
      const parent = causeOf();
      if (parent === undefined) return undefined;
      const key = query.name ?? query.text;
      let description = descriptions.get(key);
      if (description === undefined) {
        description = describe(query);
        descriptions.set(key, description);
      }
      return new SqlOperation({ ...description, parent }, duration);
    },
  };
}

class SqlOperation extends Operation {
  /** Keeps the server's message out of the span: it may quote values. */
  override fail(error: unknown): void {
    const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
    if (SQLSTATE.test(code)) this.describe({ 'db.response.status_code': code });
    this.failAs(code, `PostgreSQL error ${code}`);
  }
}

function verbOf(text: string): string {
  return (/\w+/.exec(text)?.[0] ?? 'SQL').toUpperCase();
}
