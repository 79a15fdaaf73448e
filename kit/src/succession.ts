/**
 * What a process is sent in place of SIGTERM when another one serves its port already: it leaves the port at the beginning of
 * its drain, not at the end.
 */
export const SUCCESSOR_SERVES = 'SIGUSR2' satisfies NodeJS.Signals;
