import { processEndFault } from './process-end.ts';

export const restart = processEndFault({
  name: 'restart',
  title: 'it is stopped in order and started again',
  isMomentary: true,
  end: ({ target }, world) => world.act(target, 'restart'),
});
