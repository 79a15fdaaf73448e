import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessSpec } from '../component.ts';
import { newestFirst } from '../executables.ts';
import type { BrokerFiles } from './configuration.ts';
import type { RabbitMqLayout } from './layout.ts';

export interface BrokerPorts {
  readonly amqp: number;
  /** Erlang distribution: how `erl_call` and rabbitmqctl reach the broker. */
  readonly distribution: number;
  /** Port mapper: the stock script needs one, and RabbitMQ starts one a minute after any boot. */
  readonly epmd: number;
}

export interface BrokerProcess {
  readonly layout: RabbitMqLayout;
  readonly files: BrokerFiles;
  readonly ports: BrokerPorts;
  /** "shop@localhost". */
  readonly node: string;
  readonly logFile: string;
}

/** The oldest Erlang on which a node runs without a port mapper and `erl_call` takes an address. */
const OLDEST_DIRECT_OTP = 24;

/** Why the direct start cannot be used with this installation; undefined when it can. */
export async function directStartObstacle({ home, erlangRoot }: RabbitMqLayout): Promise<string | undefined> {
  const [release] = await newestFirst(join(erlangRoot, 'releases/[0-9]*'));
  const otp = Number(/\d+$/.exec(release ?? '')?.[0]);
  if (!(otp >= OLDEST_DIRECT_OTP))
    return `needs Erlang ${OLDEST_DIRECT_OTP} or newer, found ${release ?? 'no releases folder'}`;
  if (!existsSync(join(erlangRoot, 'bin/start_sasl.boot'))) return `${erlangRoot}/bin has no start_sasl.boot`;
  const [rabbit] = await newestFirst(join(home, 'plugins/rabbit-[0-9]*'));
  if (rabbit === undefined || !existsSync(join(rabbit, 'ebin/rabbit.app'))) return 'its applications are packed (.ez)';
  return undefined;
}

/** Applications of Erlang that RabbitMQ names as needed. It uses few of their modules, and of some none. */
const OF_ERLANG = 'asn1, crypto, inets, public_key, runtime_tools, ssl, syntax_tools, tools, xmerl';

/** Those of which a broker uses most modules. */
const MOSTLY_USED = 'kernel, stdlib, sasl, mnesia, os_mon, compiler';

/**
 * RabbitMQ looks for boot steps in all modules of all applications, which loads them: 980 in version 3.10. That is most of its start.
 * Here applications of Erlang say that they have no modules, and what is called is loaded then.
 */
const WITHOUT_MODULES = `
  [case file:consult(code:where_is_file(atom_to_list(A) ++ ".app")) of
    {ok, [{application, A, Keys}]} -> application:load({application, A, lists:keystore(modules, 1, Keys, {modules, []})});
    _ -> ok
  end || A <- [${OF_ERLANG}, ${MOSTLY_USED}]].`;

/**
 * Boot loads modules one after another; loading those of an application in parallel beforehand halves its time. All applications
 * in parallel would leave it with 110 MB more memory. Boot begins with `rabbitmq_prelaunch`, the last of RabbitMQ's by name.
 */
const PRELOAD = `
  spawn(fun() ->
    Libs = os:getenv("ERL_LIBS"),
    [code:ensure_modules_loaded([list_to_atom(filename:basename(F, ".beam")) || F <- filelib:wildcard(D ++ "/*.beam")]) ||
      D <- lists:reverse(filelib:wildcard(Libs ++ "/rabbit*/ebin")) ++
        [code:lib_dir(A, ebin) || A <- [${MOSTLY_USED}], code:lib_dir(A) =/= {error, bad_name}] ++
        filelib:wildcard(Libs ++ "/*/ebin")]
  end).`;

const onOneLine = (erlang: string) => erlang.trim().replace(/\n\s*/g, ' ');

/**
 * The Erlang machine itself, without RabbitMQ's start script: only the applications that are needed, their modules
 * loaded in parallel, and no port mapper (epmd) to wait for. The node is distributed from the start on a known port,
 * so RabbitMQ does not start another Erlang to launch epmd. Its `rabbit_epmd_monitor` does so a minute later, so there
 * is one to be ended all the same.
 */
export function directSpec({ layout, files, ports, node, logFile }: BrokerProcess): ProcessSpec {
  const args = [
    ...['-noinput', '-boot', 'start_sasl'],
    ...['-sname', node, '-start_epmd', 'false', '-erl_epmd_port', String(ports.distribution)],
    ...['-kernel', 'inet_dist_use_interface', '{127,0,0,1}'],
    ...['-kernel', 'prevent_overlapping_partitions', 'false'],
    ...['-syslog', 'logger', '[]', '-syslog', 'syslog_error_logger', 'false'],
    ...['-eval', onOneLine(WITHOUT_MODULES), '-eval', onOneLine(PRELOAD), '-s', 'rabbit', 'boot'],
    ...'+W w +B i +P 1048576 +t 5000000 +stbt db +zdbbl 128000 +sbwt none +sbwtdcpu none +sbwtdio none'.split(' '),
    ...'+MBas ageffcbf +MHas ageffcbf +MBlmbcs 512 +MHlmbcs 512 +MMmcs 30'.split(' '),
  ];
  return {
    command: join(layout.ertsBin, 'erlexec'),
    args,
    env: {
      ...brokerEnvironment({ layout, files, ports, node, logFile }),
      ERL_LIBS: files.applications,
      RABBITMQ_PLUGINS_DIR: files.applications,
    },
    cwd: files.base,
    ...stop,
  };
}

/** RabbitMQ's own script. Starts an epmd immediately. */
export function scriptSpec(process: BrokerProcess): ProcessSpec {
  const { layout, files } = process;
  return {
    command: join(layout.home, 'sbin/rabbitmq-server'),
    args: [],
    env: {
      ...brokerEnvironment(process),
      // Makes the script become the Erlang machine instead of waiting for it: our signals then reach the broker itself.
      detached: 'true',
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    },
    cwd: files.base,
    ...stop,
  };
}

const stop = { stopSignal: 'SIGTERM', stopTimeoutMs: 15_000 } as const;

function brokerEnvironment({ layout, files, ports, node, logFile }: BrokerProcess): Record<string, string> {
  const { erlangRoot, ertsBin } = layout;
  return {
    // erlexec finds Erlang by these three, erl (a script with the path of its package inside) by ERL_ROOTDIR.
    ...{ ROOTDIR: erlangRoot, BINDIR: ertsBin, EMU: 'beam', PROGNAME: 'erl', ERL_ROOTDIR: erlangRoot },
    PATH: [join(erlangRoot, 'bin'), ertsBin, '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':'),
    HOME: files.home,
    LANG: 'C.UTF-8',
    ERL_MAX_ETS_TABLES: '50000',
    ERL_MAX_PORTS: '65536',
    ERL_CRASH_DUMP_BYTES: '0',
    // Without these a mapper would listen on the machine's usual port, on every interface.
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: node,
    RABBITMQ_NODE_PORT: String(ports.amqp),
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_MNESIA_BASE: files.mnesia,
    RABBITMQ_LOG_BASE: files.base,
    RABBITMQ_LOGS: logFile,
    RABBITMQ_ENABLED_PLUGINS_FILE: files.enabledPlugins,
    RABBITMQ_GENERATED_CONFIG_DIR: join(files.base, 'generated'),
    RABBITMQ_PID_FILE: join(files.base, 'rabbitmq.pid'),
    // Settings of a system service on the same machine are not ours.
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: join(files.base, 'rabbitmq'),
    RABBITMQ_ADVANCED_CONFIG_FILE: files.configuration,
  };
}
