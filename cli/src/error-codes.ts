import { type ExitCode, exitCodes } from './exit-codes.ts';

interface ErrorCode {
  readonly exitCode: ExitCode;
  readonly meaning: string;
  readonly action: string;
}

const { failed, usage, unavailable, notRunning, unknown, dirty, timedOut } = exitCodes;

/**
 * Every error of the command line by its stable code, which determines the exit code. `npm run generate` writes
 * docs/cli-errors.md from it. A new cause is a new code; an old code keeps its meaning and its exit code.
 */
export const errorCodes = {
  unexpected_error: {
    exitCode: failed,
    meaning: 'an unexpected error',
    action: 'see its stack with SHOPCTL_DEBUG=1 and report it',
  },
  not_in_a_clone: {
    exitCode: failed,
    meaning: 'the program is outside of its clone',
    action: 'call it by its path in the clone',
  },
  build_failed: {
    exitCode: failed,
    meaning: 'a bundle or an image could not be built',
    action: 'correct the sources named in `why`',
  },
  change_refused: {
    exitCode: failed,
    meaning: 'a running component refuses a change, such as a migration',
    action: 'correct what `why` names and repeat the command',
  },
  migration_refused: {
    exitCode: failed,
    meaning:
      'a [contract migration](contracts.md#contract-migrations) removes what a release uses that runs or can come back',
    action: 'see `why` and `next`',
  },
  release_too_old: {
    exitCode: failed,
    meaning: 'a release cannot run on the schema: a contract migration was applied',
    action: 'run the release that `next` names, or a newer one',
  },
  sources_missing: {
    exitCode: unavailable,
    meaning: 'there are no sources here, or nothing to build them with',
    action: 'work in a clone of the repository, after `npm install`',
  },
  build_incomplete: {
    exitCode: failed,
    meaning: 'a file that the build makes is missing',
    action: 'run `npm run build`',
  },
  state_unreadable: {
    exitCode: failed,
    meaning: 'the state, the flags or the change log of the project cannot be read',
    action: 'correct or delete the file',
  },
  run_in_progress: {
    exitCode: failed,
    meaning: 'an experiment, a load or a [drill](drills.md) already runs on this project',
    action: 'wait for its end, or use another `--project`',
  },
  no_drill: {
    exitCode: failed,
    meaning: 'no [drill](drills.md) is on, or its round is over',
    action: 'see `shopctl drill score`',
  },
  drill_running: {
    exitCode: failed,
    meaning: 'a [drill](drills.md) is on, which has the faults of the platform for itself',
    action: 'end it with `shopctl drill abort`',
  },
  drill_not_begun: {
    exitCode: failed,
    meaning: 'the platform of a [drill](drills.md) has to serve for 10 s before anything can be over',
    action: 'repeat it once `shopctl drill status` says that you are on call',
  },
  drill_not_started: {
    exitCode: failed,
    meaning: 'a [drill](drills.md) cannot begin on this platform now: a fault is active, or it is not ready',
    action: 'follow `next`',
  },
  too_many_runs: {
    exitCode: failed,
    meaning: 'too many runs began within one second',
    action: 'try again a second later',
  },
  stopped_while_starting: {
    exitCode: failed,
    meaning: 'an instance was stopped while it started',
    action: 'start it again',
  },
  injection_failed: {
    exitCode: failed,
    meaning: 'a fault could not be injected; nothing is left of it',
    action: 'see `why` and `shopctl status`',
  },
  query_failed: {
    exitCode: failed,
    meaning: 'Prometheus refuses an expression, or cannot evaluate it',
    action: 'correct what `why` names',
  },
  alert_not_firing: {
    exitCode: failed,
    meaning: 'an alert that should be acknowledged does not fire',
    action: 'see `shopctl alerts ls`',
  },
  service_problem: {
    exitCode: failed,
    meaning: 'a service responded with a [problem](errors.md)',
    action: 'read `problem.code`',
  },
  foreign_response: {
    exitCode: failed,
    meaning: 'a response is not one of the gateway',
    action: 'see who listens: `shopctl port gateway`',
  },
  database_refused: {
    exitCode: failed,
    meaning: 'a database rejected a statement',
    action: 'see `shopctl logs postgres`',
  },
  broker_refused: {
    exitCode: failed,
    meaning: 'the broker rejected an operation, or did not confirm it',
    action: 'see `shopctl logs rabbitmq`',
  },
  session_not_found: {
    exitCode: failed,
    meaning: 'the database has no session with this pid, or of this application',
    action: 'list sessions: `shopctl ops db sessions`',
  },
  session_changed: {
    exitCode: failed,
    meaning: 'a pid belongs to a later session than the one that was meant',
    action: 'list sessions: `shopctl ops db sessions`',
  },
  operation_ineffective: {
    exitCode: failed,
    meaning: 'an operator command was carried out, and what it should end is still there',
    action: 'see `why` and `next`',
  },
  order_not_found: { exitCode: failed, meaning: 'no order has this id', action: 'list orders: `shopctl order list`' },
  event_not_found: {
    exitCode: failed,
    meaning: 'no event has this id, or the order has none',
    action: 'list events: `shopctl outbox ls`',
  },
  dead_letter_not_found: {
    exitCode: failed,
    meaning: 'no dead letter has this id',
    action: 'list them: `shopctl dlq ls`',
  },
  trace_not_found: {
    exitCode: failed,
    meaning: 'no trace has this id, or the order has none',
    action: 'compare it with the `traceparent` of the response',
  },
  ambiguous_id: {
    exitCode: failed,
    meaning: 'several ids begin with these characters',
    action: 'give more characters',
  },

  invalid_usage: {
    exitCode: usage,
    meaning: 'arguments or options are missing or exclude each other',
    action: 'see `--help` of the command',
  },
  unknown_command: { exitCode: usage, meaning: 'there is no such command', action: 'see `shopctl --help`' },
  unknown_option: { exitCode: usage, meaning: 'the command has no such option', action: 'see `--help` of the command' },
  invalid_argument: {
    exitCode: usage,
    meaning: 'the value of an argument or option is not valid',
    action: 'correct it as `why` says',
  },
  invalid_duration: {
    exitCode: usage,
    meaning: 'a duration is not valid here',
    action: 'write one like `500ms`, `3s` or `1m`',
  },
  invalid_id: {
    exitCode: usage,
    meaning: 'this is not an id, nor the beginning of one',
    action: 'give 6 or more of its characters',
  },
  invalid_configuration: {
    exitCode: usage,
    meaning: 'the [configuration](configuration.md) file or a variable is not valid',
    action: 'correct it',
  },
  invalid_fault: {
    exitCode: usage,
    meaning: 'a fault or its parameters are not valid',
    action: 'see `shopctl chaos faults`',
  },
  invalid_experiment: {
    exitCode: usage,
    meaning: 'an [experiment](experiments.md) is not valid, or its file cannot be read',
    action: 'correct the file',
  },
  invalid_expectations: {
    exitCode: usage,
    meaning: '`dashboards/expected.yaml` is not valid, or cannot be read',
    action: 'correct it; [alerts](alerts.md#expectations) describes the format',
  },
  unknown_situation: {
    exitCode: usage,
    meaning: 'the list of `alerts silent` has no such situation',
    action: '`shopctl alerts silent --dry-run` lists them',
  },
  invalid_slo: {
    exitCode: usage,
    meaning: 'an [SLO](slos.md) is not valid, or its file cannot be read',
    action: 'correct the file',
  },
  invalid_drill: {
    exitCode: usage,
    meaning: 'a scenario of a [drill](drills.md) is not valid, or its file cannot be read',
    action: 'correct the file',
  },
  unknown_drill: {
    exitCode: usage,
    meaning: 'no scenario of a [drill](drills.md) has this id',
    action: 'use an id from `next`',
  },
  unknown_slo: {
    exitCode: usage,
    meaning: 'no [SLO](slos.md) has this name',
    action: 'see `dashboards/slos/`',
  },
  unknown_alert: {
    exitCode: usage,
    meaning: 'no [alert](alerts.md) has this name',
    action: 'correct the name; `shopctl alerts ls` has those that fire',
  },
  invalid_alert_rules: {
    exitCode: usage,
    meaning: 'a file with rules of alerts is not valid, or there is none',
    action: 'run `npm run generate`',
  },
  invalid_contract: {
    exitCode: usage,
    meaning: 'a [trace contract](traces.md), or a parameter of it, is not valid',
    action: 'compare it with `contracts/traces/confirmed.json`',
  },
  invalid_history: {
    exitCode: usage,
    meaning: 'a history of orders cannot be read',
    action: 'give one JSON object a line',
  },
  invalid_journal: {
    exitCode: usage,
    meaning: 'the journal of a run cannot be read',
    action: 'list runs: `shopctl chaos runs`',
  },
  invalid_load: {
    exitCode: usage,
    meaning: 'a scenario cannot be run with these settings or faults',
    action: 'see `shopctl load list`',
  },
  unknown_service: {
    exitCode: usage,
    meaning: 'no service, instance or component has this name',
    action: 'use a name from `next`',
  },
  unknown_edge: {
    exitCode: usage,
    meaning: 'no edge of the running platform has this name',
    action: 'use a name from `next`',
  },
  unknown_ref: {
    exitCode: usage,
    meaning: 'no commit of the clone has this name',
    action: 'see `git log` and `git tag`',
  },
  invalid_release: {
    exitCode: usage,
    meaning: 'no release can be made of what was asked for',
    action: 'see `next`',
  },
  invalid_strategy: {
    exitCode: usage,
    meaning: 'a service cannot be deployed in this way',
    action: 'use the strategy from `next`',
  },
  invalid_rollout: {
    exitCode: usage,
    meaning: 'a flag cannot be rolled out as it is, or by this plan',
    action: 'see `next`',
  },
  invalid_plan: {
    exitCode: usage,
    meaning: 'a [plan of a canary](canary.md#a-plan) is not valid, or its file cannot be read',
    action: 'correct the file; `shopctl deploy plan --example` prints one',
  },
  plan_out_of_reach: {
    exitCode: usage,
    meaning: 'the requests of a plan cannot come within its limit at the present rate',
    action: 'change the plan, raise the load, or add `--force`',
  },
  deploy_active: {
    exitCode: usage,
    meaning: 'a deploy is not over',
    action: 'wait for its end, or run `shopctl deploy abort`',
  },
  no_deploy: {
    exitCode: usage,
    meaning: 'there is no deploy, or no release, to which this could be done',
    action: 'see `shopctl deploy history`',
  },
  invalid_scale: {
    exitCode: usage,
    meaning: 'a service cannot have this number of replicas',
    action: 'use a number from `next`',
  },
  invalid_drain: {
    exitCode: usage,
    meaning: 'an instance cannot be drained: it is a gateway, or no other replica takes its work',
    action: 'see `why` and `next`',
  },
  invalid_reroute: {
    exitCode: usage,
    meaning: 'an edge has no other way, because the services are wired directly',
    action: 'run `shopctl up --no-direct`',
  },
  flag_has_rules: {
    exitCode: failed,
    meaning: 'a flag has targeting rules written by hand, which `flags on`, `off` and `set --percent` would discard',
    action: 'edit its file, or use `shopctl flags kill`',
  },
  unknown_flag: { exitCode: usage, meaning: 'no feature flag has this name', action: 'see `shopctl flags ls`' },
  unknown_fault: { exitCode: usage, meaning: 'no fault has this name', action: 'see `shopctl chaos faults`' },
  unknown_fault_target: {
    exitCode: usage,
    meaning: 'the fault cannot be injected into this target',
    action: 'use a target from `next`',
  },
  unknown_fault_id: { exitCode: usage, meaning: 'no fault has this id', action: 'see `shopctl chaos status`' },
  unknown_failpoint: {
    exitCode: usage,
    meaning: 'the service has no such [failpoint](saga.md#failpoints)',
    action: 'use a name from `next`',
  },
  unknown_boundary: {
    exitCode: usage,
    meaning: 'no boundary of the matrix has this name, or several have',
    action: 'use a name from `next`',
  },
  unknown_experiment: {
    exitCode: usage,
    meaning: 'no experiment has this id or tag',
    action: 'see `shopctl chaos list`',
  },
  unknown_evidence: {
    exitCode: usage,
    meaning: 'the evidence of a diagnosis in a [drill](drills.md) does not exist',
    action: 'name a trace, an order, an alert, a log or a change that is there',
  },
  invalid_script: {
    exitCode: usage,
    meaning: 'a line of a script for a [drill](drills.md) cannot be played',
    action: 'correct the line that `what` names',
  },
  agent_not_started: {
    exitCode: usage,
    meaning: 'the program that should play a [drill](drills.md) was not started',
    action: 'name a command that the shell finds',
  },
  drill_locked: {
    exitCode: usage,
    meaning: 'a level of [drills](drills.md) needs good rounds of the level below',
    action: 'play those, or a round that does not count with `--seed`',
  },
  invalid_pack: {
    exitCode: usage,
    meaning: 'a file is not a sealed round of a [drill](drills.md)',
    action: 'name a file of `shopctl drill seal`',
  },
  pack_not_opened: {
    exitCode: usage,
    meaning: 'the passphrase of a sealed round is another one, or its file was changed',
    action: 'ask the facilitator',
  },
  no_passphrase: {
    exitCode: usage,
    meaning: 'a sealed round was given no passphrase',
    action: 'type it, or use `--passphrase-file`',
  },
  pack_differs: {
    exitCode: unknown,
    meaning: 'a sealed round is of another build or of other scenarios than this platform',
    action: 'use the commit that it was sealed with, or have it sealed again',
  },
  unknown_round: {
    exitCode: usage,
    meaning: 'no round of a [drill](drills.md) has this id, and there is no such journal',
    action: 'use an id from `next`, or the path of a journal',
  },
  unknown_run: { exitCode: usage, meaning: 'no run has this id', action: 'see `shopctl chaos runs`' },
  unknown_scenario: { exitCode: usage, meaning: 'no load scenario has this name', action: 'see `shopctl load list`' },
  unknown_contract: {
    exitCode: usage,
    meaning: 'no trace contract has this name or path',
    action: 'use a name from `next`',
  },
  unknown_route: {
    exitCode: usage,
    meaning: 'the supervisor has no such route: it is of another version',
    action: 'run `shopctl down`, then `shopctl up`',
  },
  empty_selection: {
    exitCode: usage,
    meaning: 'nothing of the matrix is left to be run',
    action: 'leave `--target` or `--at` out',
  },
  fault_already_active: {
    exitCode: usage,
    meaning: 'this fault already acts on this target',
    action: 'clear it, or wait for its end',
  },
  restart_required: {
    exitCode: usage,
    meaning: 'this cannot be changed while the platform runs',
    action: 'run `shopctl down` first',
  },
  report_not_writable: {
    exitCode: usage,
    meaning: 'a report cannot be written to this file',
    action: 'name a file in a folder that exists',
  },
  not_confirmed: {
    exitCode: usage,
    meaning: 'a change was not confirmed; nothing was changed',
    action: 'give `--yes`',
  },
  terminal_required: {
    exitCode: usage,
    meaning: 'the command needs a terminal',
    action: 'use the command from `next`',
  },

  component_unavailable: {
    exitCode: unavailable,
    meaning: 'no way to run a component or tool works on this machine',
    action: 'run `shopctl setup`',
  },
  docker_unavailable: {
    exitCode: unavailable,
    meaning: 'no Docker engine responds, or it cannot run services',
    action: 'start one, or use `--runtime process`',
  },
  release_unavailable: {
    exitCode: unavailable,
    meaning: 'a release cannot run here, or its files are not there any more',
    action: 'see `next`',
  },
  image_missing: {
    exitCode: unavailable,
    meaning: 'the image of a service does not exist',
    action: 'run `shopctl build`',
  },
  port_taken: {
    exitCode: unavailable,
    meaning: 'another program listens on a port',
    action: 'choose another `--port`',
  },
  folder_unusable: {
    exitCode: unavailable,
    meaning: 'the state folder cannot be written',
    action: 'name another in `SHOPCTL_HOME`',
  },
  folder_not_private: {
    exitCode: unavailable,
    meaning: 'other users can reach the control socket',
    action: 'restrict the folder as `next` says',
  },
  failpoints_disabled: {
    exitCode: unavailable,
    meaning: 'the services run without failpoints',
    action: 'run `shopctl down`, then `SHOPCTL_FAILPOINTS=1 shopctl up`',
  },
  edge_rerouted: {
    exitCode: unavailable,
    meaning: 'a fault on this edge would have no effect: its callers pass by the proxy',
    action: 'run `shopctl reroute EDGE --via primary`',
  },
  fault_unavailable: {
    exitCode: unavailable,
    meaning: 'a fault is not available on this machine or this platform',
    action: 'see `why` and `next`',
  },
  operation_unavailable: {
    exitCode: unavailable,
    meaning: 'an operator command is not available on this platform',
    action: 'see `why` and `next`',
  },
  experiment_unavailable: {
    exitCode: unavailable,
    meaning: 'an experiment needs another machine or another platform',
    action: 'use `--fresh`, or see `next`',
  },
  alerts_off: {
    exitCode: unavailable,
    meaning: 'the platform runs without Prometheus',
    action: 'add it: `shopctl up --with alerts`',
  },
  not_measured: { exitCode: unavailable, meaning: 'a benchmark could not be measured', action: 'see `why`' },

  platform_not_running: {
    exitCode: notRunning,
    meaning: 'no supervisor runs for this project',
    action: 'run `shopctl up`',
  },
  supervisor_unresponsive: {
    exitCode: notRunning,
    meaning: 'the supervisor does not respond: it is starting, ending, stopped or stuck',
    action: 'run `shopctl down`, then `shopctl up`',
  },
  supervisor_lost: {
    exitCode: notRunning,
    meaning: 'the supervisor ended before it had responded',
    action: 'see `shopctl status` and its log',
  },
  supervisor_not_started: { exitCode: notRunning, meaning: 'the supervisor did not start', action: 'see its log' },
  start_cancelled: {
    exitCode: notRunning,
    meaning: 'the start was ended by `shopctl down`',
    action: 'run `shopctl up`',
  },
  instance_failed: {
    exitCode: notRunning,
    meaning: 'an instance does not start or does not become ready',
    action: 'see `shopctl logs SERVICE`',
  },
  component_not_running: {
    exitCode: notRunning,
    meaning: 'a service or component that is needed is not running',
    action: 'run `shopctl start NAME` or `shopctl up`',
  },
  gateway_unreachable: {
    exitCode: notRunning,
    meaning: 'no connection to the gateway',
    action: 'see `shopctl status`',
  },
  database_unreachable: {
    exitCode: notRunning,
    meaning: 'a database does not respond',
    action: 'see `shopctl status`',
  },
  broker_unreachable: { exitCode: notRunning, meaning: 'no connection to the broker', action: 'see `shopctl status`' },
  prometheus_unreachable: {
    exitCode: notRunning,
    meaning: 'Prometheus does not respond',
    action: 'see `shopctl status` and `shopctl logs prometheus`',
  },
  telemetry_unreachable: { exitCode: notRunning, meaning: 'telemetry cannot be read', action: 'see `shopctl status`' },

  evidence_missing: {
    exitCode: unknown,
    meaning: 'what is needed for a verdict cannot be read',
    action: 'see `shopctl status`',
  },

  fault_not_reverted: {
    exitCode: dirty,
    meaning: 'a fault could not be reverted',
    action: 'run `shopctl chaos clear --all`',
  },
  deploy_during_fault: {
    exitCode: dirty,
    meaning: 'a fault is active, so a deploy could not be evaluated',
    action: 'run `shopctl chaos clear --all`, or add `--during-chaos`',
  },
  undo_log_unreadable: {
    exitCode: dirty,
    meaning: 'the undo log cannot be read: another version wrote it, or it is damaged',
    action: 'see `next`',
  },
  supervisor_busy: {
    exitCode: dirty,
    meaning: 'faults cannot be reverted: the supervisor is starting, ending or stuck',
    action: 'try again, or run `shopctl down`',
  },
  stop_incomplete: {
    exitCode: dirty,
    meaning: 'something could not be stopped, or not yet',
    action: 'run `shopctl down` again',
  },

  not_ready_in_time: {
    exitCode: timedOut,
    meaning: 'an instance was not ready in time',
    action: 'see `shopctl logs SERVICE`',
  },
  no_response_in_time: {
    exitCode: timedOut,
    meaning: 'something did not respond in time',
    action: 'see `shopctl status`',
  },
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type CliErrorCode = keyof typeof errorCodes;

/** Whether a value, for instance one of another version over the control socket, is a code of this version. */
export function isErrorCode(value: unknown): value is CliErrorCode {
  return typeof value === 'string' && Object.hasOwn(errorCodes, value);
}
