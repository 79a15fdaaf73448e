import type Docker from 'dockerode';
import type { OnProgress } from '../component.ts';

/** How long a pull may bring nothing. */
const STALL_LIMIT_MS = 60_000;

interface PullEvent {
  readonly id?: string;
  readonly status?: string;
}

/** Pulls an image. Throws with the engine's reason, also when nothing arrives for a minute. */
export async function pullImage(engine: Docker, image: string, onProgress: OnProgress): Promise<void> {
  onProgress(`pulling ${image}`);
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(), STALL_LIMIT_MS);
  try {
    const stream = await engine.pull(image, { abortSignal: stall.signal });
    await finish(engine, stream, (layers) => {
      timer.refresh();
      onProgress(`pulling ${image}: ${layers}`);
    });
  } catch (cause) {
    const { message, json } = cause as Error & { json?: { message?: string } };
    const why = stall.signal.aborted ? `nothing came for ${STALL_LIMIT_MS / 1000} s` : (json?.message ?? message);
    throw new Error(`${image} could not be pulled (${why}); without a registry, bring it here by "docker load"`, {
      cause,
    });
  } finally {
    clearTimeout(timer);
  }
}

function finish(engine: Docker, stream: NodeJS.ReadableStream, onLayers: (layers: string) => void): Promise<void> {
  const layers = new Map<string, boolean>();
  const look = ({ id, status = '' }: PullEvent) => {
    if (id !== undefined) layers.set(id, status === 'Pull complete' || status === 'Already exists');
    onLayers(`${[...layers.values()].filter(Boolean).length} of ${layers.size} layers`);
  };
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, events: readonly { error?: string }[]) => {
      // A failure half-way comes as an event of a stream that then ends well.
      const problem = events?.find((event) => event.error !== undefined)?.error;
      if (error) reject(error);
      else if (problem !== undefined) reject(new Error(problem));
      else resolve();
    };
    engine.modem.followProgress(stream, done, look);
  });
}
