import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Launch } from '../component.ts';
import { VIRTUAL_HOST } from '../databases.ts';
import { execInContainer } from '../docker.ts';

/** Messages of one queue at one moment. */
export interface QueueDepth {
  readonly name: string;
  readonly ready: number;
  readonly unacknowledged: number;
  readonly consumers: number;
}

const CALL_TIMEOUT_MS = 10_000;

/**
 * Quorum queues are asked themselves (their leader's state): the broker's own listing is up to five seconds old.
 * Names travel in Base64, because an Erlang string may be printed as numbers.
 */
const LIST_QUEUES = `
Ask = fun(Q, F) -> case ra:leader_query(amqqueue:get_pid(Q), F, 1000) of {ok, {_, V}, _} -> V end end,
Count = fun(V) when is_map(V) -> map_size(V); (V) when is_list(V) -> length(V); (V) -> V end,
One = fun(Q) ->
  {resource, _, _, Name} = amqqueue:get_name(Q),
  [R, U, C] = case amqqueue:get_type(Q) of
    rabbit_quorum_queue ->
      [Count(Ask(Q, F)) || F <- [fun rabbit_fifo:query_messages_ready/1, fun rabbit_fifo:query_messages_checked_out/1, fun rabbit_fifo:query_consumer_count/1]];
    _ -> [V || {_, V} <- rabbit_amqqueue:info(Q, [messages_ready, messages_unacknowledged, consumers])]
  end,
  io_lib:format("~s,~b,~b,~b;", [base64:encode(Name), R, U, C])
end,
list_to_atom(lists:flatten([One(Q) || Q <- rabbit_amqqueue:list(<<"${VIRTUAL_HOST}">>)])).
`;

/**
 * Depth of every queue, without the management plugin, in milliseconds. `launch` may be what state.json kept of it.
 * Throws for a broker that is not ours (kind `url`): only its management API could tell.
 */
export async function rabbitmqQueues(launch: Pick<Launch, 'kind' | 'info'>): Promise<QueueDepth[]> {
  const { info } = launch;
  if (typeof info.erlCall === 'string') return parseErlangAnswer(await callBroker(info));
  if (typeof info.container === 'string') return listInContainer(info.container, String(info.engine));
  throw new Error(`the queues of a broker of kind "${launch.kind}" cannot be listed: it is not run by shopctl`);
}

async function callBroker({ erlCall, home, node, distributionPort, epmdPort }: Launch['info']): Promise<string> {
  // The cookie is read from HOME: on argv everybody on the machine could see it.
  const target = epmdPort === undefined ? ['-address', `127.0.0.1:${distributionPort}`] : ['-sname', String(node)];
  const env = {
    HOME: String(home),
    PATH: '/usr/bin:/bin',
    ...(epmdPort !== undefined && { ERL_EPMD_PORT: String(epmdPort) }),
  };
  const child = spawn(String(erlCall), [...target, '-e'], { env, timeout: CALL_TIMEOUT_MS });
  child.stdin.on('error', () => undefined); // Reported by the exit code and stderr below.
  child.stdin.end(LIST_QUEUES);
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [code, out, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code === 0 && out.startsWith('{ok,')) return out;
  throw new Error(
    `the broker did not list its queues (erl_call exit ${code}): ${`${errors} ${out}`.trim().slice(0, 500)}`,
  );
}

/** `{ok, 'c2hpcA==,0,0,1;'}` */
function parseErlangAnswer(answer: string): QueueDepth[] {
  const rows = [...answer.matchAll(/([A-Za-z0-9+/=]+),(\d+),(\d+),(\d+);/g)];
  return rows.map(([, name = '', ready, unacknowledged, consumers]) => ({
    name: Buffer.from(name, 'base64').toString(),
    ready: Number(ready),
    unacknowledged: Number(unacknowledged),
    consumers: Number(consumers),
  }));
}

async function listInContainer(container: string, engine: string): Promise<QueueDepth[]> {
  const command = ['rabbitmqctl', '-q', 'eval', LIST_QUEUES];
  return parseErlangAnswer(await execInContainer(container, command, engine));
}
