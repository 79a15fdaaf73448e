import type { Histogram } from '@opentelemetry/api';
import { Operation, type OperationOptions } from './operation.ts';

/** A request and its response, on either side. */
export class HttpExchange extends Operation {
  private readonly errorsFrom: number;

  /** `errorsFrom` is the lowest status that is an error: 400 for clients, 500 for servers (semantic conventions 1.44). */
  constructor(options: OperationOptions, duration: Histogram, errorsFrom: 400 | 500) {
    super(options, duration);
    this.errorsFrom = errorsFrom;
  }

  /** Ends it with the response's status. */
  endWithStatus(status: number): void {
    this.classify({ 'http.response.status_code': status });
    if (status < this.errorsFrom) this.end();
    else this.endWithError(String(status));
  }
}

/** Without the query, which may hold anything. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}
