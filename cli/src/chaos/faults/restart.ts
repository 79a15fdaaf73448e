import { processEndFault } from './process-end.ts';

export const restart = processEndFault({
  name: 'restart',
  title: 'it is restarted gracefully; a process of a service ends once its successor is ready',
  isMomentary: true,
  end: ({ target }, platform) => platform.act(target, 'restart'),
});
