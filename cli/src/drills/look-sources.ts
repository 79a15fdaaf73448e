/** Commands that show something of the platform, by the word that a journal has for it. */
const SOURCES: Readonly<Record<string, string>> = {
  alerts: 'pages',
  changes: 'changes',
  counters: 'metrics',
  db: 'ops',
  dlq: 'ops',
  explain: 'orders',
  logs: 'logs',
  ops: 'ops',
  order: 'orders',
  outbox: 'ops',
  saga: 'orders',
  slo: 'metrics',
  status: 'status',
  trace: 'traces',
  watch: 'status',
};

/** The source that a command shows; undefined for one that shows none. */
export function sourceOfCommand(command: string): string | undefined {
  return Object.hasOwn(SOURCES, command) ? SOURCES[command] : undefined;
}
