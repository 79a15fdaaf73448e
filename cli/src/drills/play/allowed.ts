/** What an operator has: everything that looks at a platform or cures it. */
const COMMANDS: ReadonlySet<string> = new Set([
  'alerts',
  'audit',
  'changes',
  'counters',
  'db',
  'deploy',
  'dlq',
  'drain',
  'explain',
  'flags',
  'logs',
  'ops',
  'order',
  'outbox',
  'port',
  'products',
  'reroute',
  'restart',
  'saga',
  'scale',
  'shed',
  'slo',
  'start',
  'status',
  'stock',
  'stop',
  'trace',
  'wait',
]);
/** Of `drill`: what a trainee does in a round. */
const OF_DRILL: ReadonlySet<string> = new Set([
  'ack',
  'all-clear',
  'blame',
  'declare',
  'fixed',
  'give-up',
  'hint',
  'note',
  'page',
  'status',
  'update',
]);
/** They choose another platform, or another format than the one that is read. */
const OPTIONS = ['-p', '--project', '--format'];

/** Why a program may not run this command line in a round; undefined where it may. Pure. */
export function refusalOf(words: readonly string[]): string | undefined {
  const [command = '', sub = ''] = words;
  const option = words.find((word) => OPTIONS.some((one) => word === one || word.startsWith(`${one}=`)));
  if (option !== undefined) return `${option} is given by the session`;
  const isAllowed = command === 'drill' ? OF_DRILL.has(sub) : COMMANDS.has(command);
  return isAllowed
    ? undefined
    : `"${[command, ...(command === 'drill' ? [sub] : [])].join(' ')}" is not a command of an operator`;
}

/** All that may be run, for the task of a program. */
export const allowedCommands: readonly string[] = [...COMMANDS, ...[...OF_DRILL].map((one) => `drill ${one}`)];
