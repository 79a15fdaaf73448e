import { VIRTUAL_HOST } from '../../topology/databases.ts';
import type { Launch } from '../component.ts';
import { evaluateOnBroker } from './evaluate.ts';

/** Messages of one queue at one moment. */
export interface QueueDepth {
  readonly name: string;
  readonly ready: number;
  readonly unacknowledged: number;
  readonly consumers: number;
}

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
 * Throws for a broker that is not ours (kind `url`): only its management API has that.
 */
export async function rabbitmqQueues(launch: Pick<Launch, 'kind' | 'info'>): Promise<QueueDepth[]> {
  return parseQueues(await evaluateOnBroker(launch, LIST_QUEUES));
}

/** `'c2hpcA==,0,0,1;'` */
function parseQueues(response: string): QueueDepth[] {
  const rows = [...response.matchAll(/([A-Za-z0-9+/=]+),(\d+),(\d+),(\d+);/g)];
  return rows.map(([, name = '', ready, unacknowledged, consumers]) => ({
    name: Buffer.from(name, 'base64').toString(),
    ready: Number(ready),
    unacknowledged: Number(unacknowledged),
    consumers: Number(consumers),
  }));
}
