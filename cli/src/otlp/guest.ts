import type { IncomingMessage } from 'node:http';

/** What a guest of the telemetry address responds. */
export interface GuestResponse {
  readonly status: number;
  readonly body: string;
  /** Absent: there is no body. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Other routes of the telemetry address: undefined for a request that is not its own. */
export type Guest = (request: IncomingMessage) => Promise<GuestResponse> | undefined;
