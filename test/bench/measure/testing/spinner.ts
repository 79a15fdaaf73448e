import { handleCalls } from '../worker.ts';

/** A worker that uses up CPU time, in ms of its process. */
handleCalls({
  spin(ms: number) {
    const began = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(began);
      if (user + system >= ms * 1_000) return;
    }
  },
  fail() {
    throw new Error('on purpose');
  },
});
