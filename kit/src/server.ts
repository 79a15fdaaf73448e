import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { createAllowedMethods } from './allowed-methods.ts';
import { followConnections } from './draining.ts';
import { ForcedResponseError, ReplyDroppedError } from './failpoints.ts';
import { DatabaseUnavailableError } from './failures.ts';
import type { Health } from './health.ts';
import { handleClientError, rejectTunnel } from './http-socket-errors.ts';
import { parseJsonBody } from './json-body.ts';
import type { Logger } from './logger.ts';
import { escapePointer, type FieldError, type ProblemCode, ProblemError, problems, toProblem } from './problems.ts';
import { refusalOf } from './request-rules.ts';
import { distrustClients, inRequest, nameRequest, traceRequests } from './spans/server-requests.ts';
import { areLibrariesInstrumented } from './telemetry/instrumentation.ts';
import { currentTraceId, currentTraceParent } from './tracing.ts';

/** Largest body a service takes, in bytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** How long a client may take to send its request, in ms. */
const REQUEST_TIMEOUT_MS = 5_000;

/** How long a connection without a request is kept, in ms; longer than any of our clients keeps one. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/**
 * Requests that one connection carries. Its last response says so, and no request is lost. A Kubernetes Service chooses
 * a replica per connection, so the caller's next connection may reach another one. Otherwise a replica that is added
 * under load would stay idle.
 */
export const REQUESTS_PER_CONNECTION = 1_000;

export type HttpServer = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route as spans name it, where the contract's spelling is not Fastify's (`/products/{id:int}`). */
    otelRoute?: string;
  }
}

export interface ServerOptions {
  readonly logger: Logger;
  readonly health: Health;
  /** Level of the line written for each request; a service behind the gateway keeps it at debug. */
  readonly accessLevel?: 'info' | 'debug';
  /** Clients are untrusted: of their trace context only the trace id and the parent are taken. */
  readonly isPublic?: boolean;
  /** Path whose clients decide whether they are traced, and whose requests are not logged. */
  readonly probePath?: string;
  /** How long a client may take to send its request, in ms; 5 s by default. */
  readonly requestTimeoutMs?: number;
  /** How long a connection without a request is kept, in ms; 72 s by default. */
  readonly keepAliveTimeoutMs?: number;
}

/**
 * The HTTP server that all services share: limits, problem responses, health checks, the trace context in every response,
 * route names for spans. Types are never coerced and unknown fields are errors.
 */
export function createServer(options: ServerOptions): HttpServer {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, keepAliveTimeoutMs = KEEP_ALIVE_TIMEOUT_MS } = options;
  const listenerOf = (handle: RequestListener) =>
    traceRequests(handle, { isPublic: options.isPublic === true, probePath: options.probePath });
  const server = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    // A child for each request would only add another id; the trace id in every line identifies the request.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    serverFactory: (handle) => openServer(listenerOf(handle), { requestTimeoutMs, keepAliveTimeoutMs }),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 200 },
    clientErrorHandler: (error, socket) =>
      handleClientError(error, socket, { logger: options.logger, requestTimeoutMs }),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply),
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true, useDefaults: false } },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // Bodies are JSON; Fastify would also take plain text.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body),
  );
  const allowed = createAllowedMethods();
  server.addHook('onRoute', (route) => allowed.add(route));
  followConnections(server, keepAliveTimeoutMs);
  server.addHook('onRequest', (request, reply, done) => {
    nameSpanAfterRoute(request);
    const traceParent = currentTraceParent();
    if (traceParent !== undefined) reply.header('traceparent', traceParent);
    // Before the body is read: no route will take it.
    done(refusalOf(request.raw) ?? (request.is404 ? missingRoute(allowed.find(request.url)) : undefined));
  });
  server.addHook('preValidation', (request, _reply, done) => {
    // The arrival of the body was an event of the socket, which has no context.
    if (request.body === undefined) done();
    else inRequest(request.raw, done);
  });
  if (options.logger.isLevelEnabled(options.accessLevel ?? 'debug')) {
    server.addHook('onResponse', (request, reply, done) => {
      inRequest(request.raw, () => logAccess(options, request, reply));
      done();
    });
  }
  server.setErrorHandler((error, request, reply) => inRequest(request.raw, () => sendError(error, request, reply)));
  // Only for a handler that gives its request up: `onRequest` has rejected requests without a route.
  server.setNotFoundHandler(() => {
    throw missingRoute(undefined);
  });
  if (options.isPublic && areLibrariesInstrumented()) distrustClients(server.server, options.probePath);
  addHealthRoutes(server, options.health);
  server.server.on('connect', (_request, socket) =>
    rejectTunnel(socket as Socket, { logger: options.logger, requestTimeoutMs }),
  );
  return server;
}

/** As Fastify would create it. Fastify accepts no wrapped request listener. */
function openServer(
  listener: RequestListener,
  { requestTimeoutMs, keepAliveTimeoutMs }: Readonly<Record<'requestTimeoutMs' | 'keepAliveTimeoutMs', number>>,
): Server {
  const server = createHttpServer(
    {
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
      // Node takes the smaller of its two limits for the headers, and the other for the whole request.
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      requireHostHeader: false,
    },
    listener,
  );
  server.maxRequestsPerSocket = REQUESTS_PER_CONNECTION;
  // Node's own 417 has no body; the request is rejected by the rules of this server.
  server.on('checkExpectation', listener);
  return server;
}

function missingRoute(methods: readonly string[] | undefined): ProblemError {
  if (methods === undefined) return new ProblemError('route_not_found', 'no route has this path');
  const allow = methods.join(', ');
  return new ProblemError('method_not_allowed', `this path takes ${allow}`, { headers: { allow } });
}

function nameSpanAfterRoute(request: FastifyRequest): void {
  const route = request.routeOptions.config?.otelRoute ?? request.routeOptions.url;
  if (route !== undefined) nameRequest(request.raw, route);
}

function logAccess(options: ServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.routeOptions.url ?? 'unknown';
  if (route.startsWith('/health') || request.raw.url === options.probePath) return;
  options.logger[options.accessLevel ?? 'debug'](
    { method: request.method, route, status: reply.statusCode, durationMs: Math.round(reply.elapsedTime) },
    'request completed',
  );
}

function addHealthRoutes(server: FastifyInstance, health: Health): void {
  server.get('/health/live', { schema: { hide: true } as object }, async () => ({ status: 'alive' }));
  server.get('/health/ready', { schema: { hide: true } as object }, async (_request, reply) => {
    const readiness = await health.readiness();
    return reply.code(readiness.status === 'ready' ? 200 : 503).send(readiness);
  });
}

/** Sends a problem as the response; the trace id is that of the active span. */
export function sendProblem(
  reply: FastifyReply,
  code: ProblemCode,
  detail: string,
  extra: { errors?: readonly FieldError[] | undefined; headers?: Readonly<Record<string, string>> } = {},
): FastifyReply {
  const entry: { status: number; retryAfterS?: number } = problems[code];
  if (entry.retryAfterS !== undefined) reply.header('retry-after', String(entry.retryAfterS));
  return reply
    .code(entry.status)
    .headers(extra.headers ?? {})
    .type('application/problem+json')
    .send(JSON.stringify(toProblem(code, detail, currentTraceId(), extra.errors)));
}

/** Fastify's errors by their code. Any other unknown error is an internal error. */
const FRAMEWORK_PROBLEMS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'send the body as application/json'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', `a body may have ${BODY_LIMIT_BYTES} bytes at most`],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_json', 'the body is shorter or longer than its Content-Length'],
  FST_ERR_BAD_URL: ['route_not_found', 'the path is not a valid URL path'],
  FST_ERR_MAX_PARAM_LENGTH: ['route_not_found', 'a part of the path is too long'],
  FST_ERR_ASYNC_CONSTRAINT: ['route_not_found', 'no route has this path'],
};

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  HARNESS: if (error instanceof ReplyDroppedError) return dropReply(request, reply);
  HARNESS: if (error instanceof ForcedResponseError) return forceResponse(error, reply);
  if (error instanceof ProblemError) {
    request.log.debug({ err: error }, 'request rejected');
    return sendProblem(reply, error.code, error.message, { errors: error.errors, headers: error.headers });
  }
  if (error instanceof DatabaseUnavailableError) {
    request.log.warn({ err: error }, 'the database is unavailable');
    return sendProblem(reply, 'database_unavailable', 'the service cannot reach its database, try again later');
  }
  const known = error as Partial<FastifyError>;
  if (known.validation !== undefined) {
    // A pointer leads into the body: a header is named in the detail.
    if (known.validationContext === 'headers')
      return sendProblem(reply, 'invalid_request', toHeaderDetail(known.validation));
    const errors = known.validation.map((issue) => toFieldError(issue));
    return sendProblem(reply, 'invalid_request', `${errors.length} field(s) are not valid`, { errors });
  }
  const framework = FRAMEWORK_PROBLEMS[known.code ?? ''];
  if (framework !== undefined) return sendProblem(reply, ...framework);
  if (error instanceof SyntaxError || known.statusCode === 400) {
    return sendProblem(reply, 'malformed_json', 'the body is not valid JSON');
  }
  if (known.code === 'ECONNRESET' || known.code === 'ECONNABORTED') {
    request.log.info('the client left before its request had arrived');
    return sendProblem(reply, 'request_timeout', 'the request did not arrive');
  }
  request.log.error({ err: error }, 'unexpected failure');
  return sendProblem(reply, 'internal_error', 'the failure was logged under this trace id');
}

/** The client's connection ends without a byte of a response. */
function dropReply(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

/** Not one of our problems: a failpoint may respond with any status. */
function forceResponse({ status, message }: ForcedResponseError, reply: FastifyReply): FastifyReply {
  const body = { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, traceId: currentTraceId() };
  return reply.code(status).type('application/problem+json').send(JSON.stringify(body));
}

/** Ajv's issue as a JSON pointer and a sentence. Values are not repeated: a field may hold personal data. */
function toFieldError(issue: { instancePath: string; message?: string; params: Record<string, unknown> }): FieldError {
  const extra = issue.params.additionalProperty;
  if (typeof extra === 'string') {
    return { pointer: `#${issue.instancePath}/${escapePointer(extra.slice(0, 100))}`, detail: 'is not a known field' };
  }
  const missing = issue.params.missingProperty;
  if (typeof missing === 'string') return { pointer: `#${issue.instancePath}/${missing}`, detail: 'is required' };
  return { pointer: `#${issue.instancePath}`, detail: issue.message ?? 'is not valid' };
}

function toHeaderDetail(issues: readonly { instancePath: string; message?: string }[]): string {
  return issues.map(({ instancePath, message }) => `the header ${instancePath.slice(1)} ${message}`).join('; ');
}
