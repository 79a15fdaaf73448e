import { processEndFault } from './process-end.ts';

export const stop = processEndFault({
  name: 'stop',
  title: 'it is stopped in order and stays away until the fault ends',
  isMomentary: false,
  end: ({ target }, world) => world.act(target, 'stop'),
});
