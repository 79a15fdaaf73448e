/** "Fast": sessions are ended, then a checkpoint. SIGTERM would wait for every client to leave, and pools never do. */
export const POSTGRES_STOP_SIGNAL = 'SIGINT';
