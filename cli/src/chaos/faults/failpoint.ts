import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { failpoints, failpointsOf } from '@shop/kit/failpoint-names.ts';
import { type Static, Type } from 'typebox';
import type { CliErrorCode } from '../../error-codes.ts';
import { CliError } from '../../errors.ts';
import { armFailpoint, countOf, disarmFailpoint } from '../../platform/failpoint-files.ts';
import { defineFault } from '../fault.ts';

const parameters = Type.Object(
  {
    at: Type.String({ description: 'name of the failpoint, for instance stock-reserved:unsaved' }),
    action: Type.Enum(['kill', 'delay', 'error', 'drop-reply', 'respond'], {
      description: 'kill, delay, error, drop-reply (the work is done, its response is lost) or respond',
    }),
    delay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_600_000,
        description: 'how long to wait there; with kill, how long work continues before the end',
        unit: 'ms',
      }),
    ),
    status: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 599, description: 'respond: the HTTP status to send, for instance 503' }),
    ),
    every: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'only each n-th hit acts' })),
    times: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'how often it acts (default: once; with every alone, without end)',
      }),
    ),
  },
  { additionalProperties: false },
);

type Parameters = Static<typeof parameters>;

interface Armed {
  /** The file that arms it; the service removes it before its last act. */
  readonly file: string;
  readonly folder: string;
  /** `orders.stock-reserved:unsaved` */
  readonly failpoint: string;
  /** Acts of it that were counted before. */
  readonly actedBefore: number;
}

/** Armed for its next hit, or for as many as stated; a process restarted after the last one does not end again. */
export const failpoint = defineFault<typeof parameters, Armed>({
  name: 'failpoint',
  kind: 'failpoint',
  scope: 'service',
  title: 'the service ends, waits, fails or loses a response at a named place in its code',
  parameters,
  defaults: { excluded: 'it holds the orders; E24 to E28 kill, fail and lose responses at each boundary' },
  // Place and action depend on the service: stated on the command line, not picked.
  presets: [],
  placeOf: ({ at }) => at,
  check,
  async prepare({ target, parameters: given }, platform) {
    check({ target, parameters: given });
    const { failpointDir: folder } = platform;
    if (folder === undefined) {
      throw new CliError({
        code: 'failpoints_disabled',
        what: 'the services run without failpoints',
        why:
          platform.state()?.runtime === 'docker'
            ? 'their images hold a production build, which has no failpoints (docs/docker.md)'
            : 'failpoints are enabled when the platform starts, and it was started without',
        next: 'run "shopctl down", then "SHOPCTL_FAILPOINTS=1 shopctl up", which runs a harness build',
      });
    }
    const name = `${target}.${given.at}`;
    return { folder, failpoint: name, file: join(folder, name), actedBefore: countOf(folder, 'acted', name) };
  },
  inject: ({ id, parameters: given }, armed) => armFailpoint({ ...armed, id }, writeOrder(given)),
  async witness(_, armed) {
    const acted = countOf(armed.folder, 'acted', armed.failpoint) - armed.actedBefore;
    const isArmed = existsSync(armed.file);
    if (acted > 0) return { verdict: 'observed', evidence: `acted ${acted} times${isArmed ? ', armed still' : ''}` };
    if (isArmed) return { verdict: 'pending', evidence: 'armed, not acted yet' };
    return { verdict: 'not_observed', evidence: 'disarmed before it acted' };
  },
  whyNotAsked: 'the service disarms it before its last act; a witness that waits for one is looked at instead',
  undo: ({ file }) => disarmFailpoint(file),
  async verify({ file }) {
    if (existsSync(file)) throw new Error(`${file} is still there`);
    return 'not armed any more';
  },
});

function check({ target, parameters: given }: { readonly target: string; readonly parameters: Parameters }): void {
  checkPlace(target, given);
  checkArguments(given);
}

/** Throws CliError (2) when the service has no such place, or the action makes no sense there. */
function checkPlace(target: string, { at, action }: Parameters): void {
  const known = failpointsOf(target);
  const place = known.get(at);
  if (place === undefined) {
    throw usage(`${target} has no failpoint ${at}`, `name one of ${[...known.keys()].join(', ')}`, 'unknown_failpoint');
  }
  if (action === 'drop-reply' && place.reply === undefined) {
    throw usage(`${target}.${at} has no response to lose`, `drop-reply works at ${placesWith('reply')}`);
  }
  if (action === 'respond' && !place.canRespond) {
    throw usage(`${target}.${at} cannot respond to its caller`, `respond works at ${placesWith('canRespond')}`);
  }
}

function placesWith(property: 'reply' | 'canRespond'): string {
  return Object.keys(failpoints)
    .flatMap((service) =>
      [...failpointsOf(service)].filter(([, place]) => property in place).map(([name]) => `${service}.${name}`),
    )
    .join(', ');
}

function checkArguments({ action, delay, status }: Parameters): void {
  if (action === 'delay' && delay === undefined) throw usage('the time to wait is missing', 'add --delay, like 2s');
  if (action !== 'delay' && action !== 'kill' && delay !== undefined) {
    throw usage(`${action} has no delay`, 'leave --delay out');
  }
  if (action === 'respond' && status === undefined) {
    throw usage('the status to respond with is missing', 'add --status, like 503');
  }
  if (action !== 'respond' && status !== undefined) throw usage(`${action} has no status`, 'leave --status out');
}

/** As the services read it: `respond 503 every=3 times=2`. */
function writeOrder({ action, delay, status, every, times }: Parameters): string {
  const argument = delay ?? status;
  return [
    action,
    ...(argument === undefined ? [] : [String(argument)]),
    ...(every === undefined ? [] : [`every=${every}`]),
    ...(times === undefined ? [] : [`times=${times}`]),
  ].join(' ');
}

function usage(what: string, next: string, code: CliErrorCode = 'invalid_fault'): CliError {
  return new CliError({ code, what, next });
}
