import { processEndFault } from './process-end.ts';

export const restart = processEndFault({
  name: 'restart',
  title: 'it is stopped gracefully and started again',
  isMomentary: true,
  end: ({ target }, platform) => platform.act(target, 'restart'),
});
