import { processEndFault } from './process-end.ts';

export const stop = processEndFault({
  name: 'stop',
  title: 'it is stopped gracefully and stays down until the fault ends',
  isMomentary: false,
  end: ({ target }, platform) => platform.act(target, 'stop'),
});
