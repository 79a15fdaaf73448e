/**
 * What removes the containers of a test run that was killed: a container of Testcontainers, made from a separate image.
 */
import { getReaperImage } from 'testcontainers/build/reaper/reaper.js';

/** Switches it off. */
const VARIABLE = 'TESTCONTAINERS_RYUK_DISABLED';

/**
 * Switches the reaper off in `env` where its image is not here: the first container would wait for it to be pulled, which
 * fails without a registry. Then says so, and what is to be done by hand after a run that was killed.
 */
export async function useReaper(
  has: (image: string) => Promise<boolean>,
  env: NodeJS.ProcessEnv,
  say: (text: string) => void,
): Promise<void> {
  const image = getReaperImage();
  if (env[VARIABLE] === 'true' || (await has(image))) return;
  env[VARIABLE] = 'true';
  say(
    [
      `no ${image} here: nothing removes the containers of a test run that is killed`,
      `  to have it: docker pull ${image}`,
      '  otherwise, after such a run: docker rm -fv $(docker ps -aq --filter label=org.testcontainers=true)',
      '',
    ].join('\n'),
  );
}
