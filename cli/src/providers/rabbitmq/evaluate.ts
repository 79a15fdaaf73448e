import { randomBytes } from 'node:crypto';
import { complaintOf, runProgram } from '../../process/run-program.ts';
import type { Launch } from '../component.ts';
import { execInContainer } from '../docker/exec.ts';

const CALL_TIMEOUT_MS = 10_000;

/**
 * Evaluates Erlang on a broker of ours and resolves with the value as Erlang prints it. `launch` may be what state.json
 * kept of it. Rejects for a broker that is not ours (kind `url`), and with the broker's own words when it fails.
 */
export async function evaluateOnBroker(launch: Pick<Launch, 'kind' | 'info'>, erlang: string): Promise<string> {
  const { info } = launch;
  if (typeof info.erlCall === 'string') return callBroker(info, erlang);
  if (typeof info.container === 'string')
    return execInContainer(info.container, ['rabbitmqctl', '-q', 'eval', erlang], String(info.engine));
  throw new Error(`a broker of kind "${launch.kind}" cannot be asked: it is not run by shopctl`);
}

async function callBroker(
  { erlCall, home, node, distributionPort, epmdPort }: Launch['info'],
  erlang: string,
): Promise<string> {
  // The cookie is read from HOME: on argv every user of the machine could see it.
  const target = epmdPort === undefined ? ['-address', `127.0.0.1:${distributionPort}`] : ['-sname', String(node)];
  const env = {
    HOME: String(home),
    PATH: '/usr/bin:/bin',
    ...(epmdPort !== undefined && { ERL_EPMD_PORT: String(epmdPort) }),
  };
  // Its own name, which is "c17" for all of them, is refused while another one is connected; -r draws by the second.
  const name = `shopctl_${randomBytes(8).toString('hex')}`;
  const { stdout, stderr } = await runProgram(String(erlCall), ['-h', name, ...target, '-e'], {
    env,
    timeoutMs: CALL_TIMEOUT_MS,
    input: `${erlang}\n`, // An expression is complete at the end of its line.
  }).catch((cause) => {
    throw new Error(`the broker did not respond: ${complaintOf(cause).slice(0, 500)}`, { cause });
  });
  const value = /^\{ok,\s*(.*)\}\s*$/s.exec(stdout)?.[1];
  if (value !== undefined) return value;
  throw new Error(`the broker did not respond: ${`${stderr} ${stdout}`.trim().slice(0, 500)}`);
}
