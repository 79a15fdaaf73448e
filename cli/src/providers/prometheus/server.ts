/** Older samples are dropped, and the oldest ones beyond this size: about 100 MB a day with everything scraped once a second. */
const [RETENTION_TIME, RETENTION_SIZE] = ['24h', '512MB'];
/** The receiver of alerts has lost nothing for longer when it starts again; one that is not repeated ends after four times that. */
const RESEND_DELAY = '5s';

/**
 * Options that 2.42 and 3.x have. With the lifecycle API a change of the rules is loaded, or refused with a response, however
 * it runs. Who reaches it from this machine can also end it: it is started again.
 */
export function serverArguments({
  configuration,
  data,
  port,
}: {
  readonly configuration: string;
  readonly data: string;
  readonly port: number;
}): readonly string[] {
  return [
    `--config.file=${configuration}`,
    `--storage.tsdb.path=${data}`,
    `--storage.tsdb.retention.time=${RETENTION_TIME}`,
    `--storage.tsdb.retention.size=${RETENTION_SIZE}`,
    `--web.listen-address=127.0.0.1:${port}`,
    // Links in alerts have this address. Otherwise they have the name of the machine, where nothing listens.
    `--web.external-url=http://127.0.0.1:${port}`,
    '--web.enable-lifecycle',
    `--rules.alert.resend-delay=${RESEND_DELAY}`,
    // Of a start that fails, the last lines are then the reason, and not how it ended.
    '--log.level=warn',
  ];
}
