import { declareRetries, declareTopology, type TopologyChannel } from '@shop/kit/topology.ts';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { CliError, messageOf } from '../errors.ts';
import { pollFor } from '../shared/wait-until.ts';
import { VIRTUAL_HOST } from '../topology/databases.ts';
import type { Administration } from './administration.ts';

/** What a resource alarm is about. */
export interface ResourceAlarm {
  readonly resource: 'disk' | 'memory';
  /** While it is on, the broker reads nothing from connections that publish. */
  readonly isOn: boolean;
  /** Disk: least that must be free. Memory: most that may be used. */
  readonly limitBytes: number;
  /** Disk: what is free. Memory: what is used. Null where the broker cannot say. */
  readonly measuredBytes: number | null;
}

export interface AlarmReport {
  readonly alarms: readonly ResourceAlarm[];
  readonly blockedConnections: number;
}

/** A queue gets what is published to an exchange with a routing key. */
export interface Binding {
  readonly exchange: string;
  readonly queue: string;
  readonly routingKey: string;
}

export interface BindingReport extends Binding {
  /** `unknown`: the services declare no such binding. */
  readonly state: 'bound' | 'missing' | 'unknown';
}

const CONNECT_LIMIT_MS = 2_000;
const FREE_LIMIT_MS = 5_000;

const ALARMS = `{rabbit_disk_monitor:get_disk_free_limit(), rabbit_disk_monitor:get_disk_free(),
  vm_memory_monitor:get_memory_limit(), vm_memory_monitor:get_process_memory(),
  length([S || I <- rabbit_networking:connection_info_all([state]), {state, S} <- I, lists:member(S, [blocking, blocked])]),
  [R || {{resource_limit, R, _}, _} <- rabbit_alarm:get_alarms()]}.`;

/** What limits are set to at the start of the broker stays in the settings of its application. */
const RESET_LIMITS = `{ok, D} = application:get_env(rabbit, disk_free_limit),
  {ok, M} = application:get_env(rabbit, vm_memory_high_watermark),
  ok = rabbit_disk_monitor:set_disk_free_limit(D),
  vm_memory_monitor:set_vm_memory_high_watermark(M), ok.`;

/** Base64, because an Erlang string may be printed as numbers; an atom each, because one has at most 255 characters. */
const BINDINGS = `[list_to_atom(lists:flatten(io_lib:format("~s,~s,~s", [base64:encode(S), base64:encode(Q), base64:encode(K)]))) ||
  {binding, {_, _, _, S}, K, {_, _, queue, Q}, _} <- rabbit_binding:list(<<"${VIRTUAL_HOST}">>), S =/= <<>>].`;

export async function readAlarms({ askBroker }: Pick<Administration, 'askBroker'>): Promise<AlarmReport> {
  const printed = await askBroker(ALARMS);
  const [, diskLimit, diskFree, memoryLimit, memoryUsed, blocked, on = ''] =
    /^\s*\{\s*(\d+),\s*(\d+|'?\w+'?),\s*(\d+),\s*(\d+),\s*(\d+),\s*\[([^\]]*)\]\s*\}/.exec(printed) ?? [];
  if (diskLimit === undefined) throw unreadable(printed);
  const isOn = (resource: string) => on.split(/[\s,]+/).includes(resource);
  return {
    alarms: [
      {
        resource: 'disk',
        isOn: isOn('disk'),
        limitBytes: Number(diskLimit),
        measuredBytes: /^\d+$/.test(diskFree ?? '') ? Number(diskFree) : null,
      },
      {
        resource: 'memory',
        isOn: isOn('memory'),
        limitBytes: Number(memoryLimit),
        measuredBytes: Number(memoryUsed),
      },
    ],
    blockedConnections: Number(blocked),
  };
}

/** Sets the limits to those of the broker's configuration. Throws CliError (1) where an alarm stays on then: it is real. */
export async function resetLimits(
  { askBroker }: Pick<Administration, 'askBroker'>,
  limitMs = FREE_LIMIT_MS,
): Promise<AlarmReport> {
  await askBroker(RESET_LIMITS);
  let last: AlarmReport | undefined;
  const isOver = await pollFor(
    async () => {
      last = await readAlarms({ askBroker });
      return last.alarms.some(({ isOn }) => isOn) ? undefined : true;
    },
    { everyMs: 50, limitMs },
  );
  if (isOver) return last as AlarmReport;
  const on = (last as AlarmReport).alarms.filter((alarm) => alarm.isOn).map(({ resource }) => resource);
  throw new CliError({
    code: 'operation_ineffective',
    what: `the ${on.join(' and ')} alarm of the broker is still on`,
    why: 'its limit is that of the configuration now, and it is passed',
    next: `free ${on.join(' and ')} of this machine; see "shopctl ops broker alarms"`,
  });
}

/** All bindings of queues to named exchanges. */
export async function readBindings({ askBroker }: Pick<Administration, 'askBroker'>): Promise<readonly Binding[]> {
  const printed = await askBroker(BINDINGS);
  if (!/^\s*\[/.test(printed)) throw unreadable(printed);
  const text = (base64: string) => Buffer.from(base64, 'base64').toString();
  return [...printed.matchAll(/'([^',]*),([^',]*),([^',]*)'/g)].map(([, exchange = '', queue = '', key = '']) => ({
    exchange: text(exchange),
    queue: text(queue),
    routingKey: text(key),
  }));
}

/** What is bound, beside what orders and shipping declare. */
export async function compareBindings(
  administration: Pick<Administration, 'askBroker'>,
): Promise<readonly BindingReport[]> {
  const wanted = await wantedBindings();
  const present = await readBindings(administration);
  const isIn = (all: readonly Binding[], one: Binding) => all.some((other) => keyOf(other) === keyOf(one));
  return [
    ...wanted.map((one) => ({ ...one, state: isIn(present, one) ? ('bound' as const) : ('missing' as const) })),
    ...present.filter((one) => !isIn(wanted, one)).map((one) => ({ ...one, state: 'unknown' as const })),
  ];
}

/** Declares what the services declare, with their own functions. Throws CliError (1) where a binding is still missing. */
export async function restoreBindings(
  administration: Pick<Administration, 'askBroker' | 'brokerUrl' | 'clientName'>,
): Promise<readonly BindingReport[]> {
  try {
    await withChannel(administration, async (channel) => {
      await declareTopology(channel);
      await declareRetries(channel);
    });
  } catch (cause) {
    throw new CliError({
      code: 'broker_refused',
      what: 'the broker rejected a declaration',
      why: messageOf(cause),
      next: 'see "shopctl logs rabbitmq": a queue of another kind must be removed before it is declared again',
      cause,
    });
  }
  const after = await compareBindings(administration);
  const missing = after.filter(({ state }) => state === 'missing');
  if (missing.length === 0) return after;
  throw new CliError({
    code: 'operation_ineffective',
    what: `${missing.length} bindings are missing again`,
    why: missing.map(({ exchange, queue }) => `${exchange} to ${queue}`).join(', '),
    next: 'see "shopctl ops broker bindings" and "shopctl logs rabbitmq"',
  });
}

/** Those that orders and shipping make when they connect. */
async function wantedBindings(): Promise<readonly Binding[]> {
  const bindings: Binding[] = [];
  const recorder: TopologyChannel = {
    assertExchange: async () => undefined,
    assertQueue: async () => undefined,
    bindQueue: async (queue, exchange, routingKey) => void bindings.push({ exchange, queue, routingKey }),
  };
  await declareTopology(recorder);
  await declareRetries(recorder);
  return bindings;
}

/** Work on a channel of the operator's account, at the broker itself, not through a proxy. */
export async function withChannel<T>(
  { brokerUrl, clientName }: Pick<Administration, 'brokerUrl' | 'clientName'>,
  work: (channel: ConfirmChannel, connection: ChannelModel) => Promise<T>,
): Promise<T> {
  const { default: amqp } = await import('amqplib');
  const connection = await amqp.connect(await brokerUrl(), {
    timeout: CONNECT_LIMIT_MS,
    clientProperties: { connection_name: clientName },
  });
  // What ends the connection or the channel also rejects what was asked on it; without listeners it would end this process.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    return await work(channel, connection);
  } finally {
    // One that is blocked, or was closed by the broker, cannot close gracefully.
    await connection.close().catch(() => undefined);
  }
}

function keyOf({ exchange, queue, routingKey }: Binding): string {
  return JSON.stringify([exchange, queue, routingKey]);
}

function unreadable(printed: string): Error {
  return new Error(`the broker responded with something else: ${printed.slice(0, 200)}`);
}
