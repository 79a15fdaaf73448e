/** The Docker engine of the machine, for tests that need one. */
import { engineUrl, openEngine, pingEngine, unlessStatus } from '../../../cli/src/providers/docker/engine.ts';

type Docker = Awaited<ReturnType<typeof openEngine>>;

export interface TestEngine {
  readonly engine: Docker;
  /** True when the image is here; nothing is pulled. */
  has(image: string): Promise<boolean>;
}

/** The engine, if one responds and has the images. Otherwise undefined, and why is printed. */
export async function findEngine(tested: string, ...images: readonly string[]): Promise<TestEngine | undefined> {
  const skip = (why: string) => void process.stderr.write(`skipped: ${tested}: ${why}\n`);
  let engine: Docker;
  try {
    const url = engineUrl(process.env);
    await pingEngine(url);
    engine = await openEngine(url);
  } catch (error) {
    return skip((error as Error).message) as undefined;
  }
  const has = async (image: string) => (await engine.getImage(image).inspect().catch(unlessStatus(404))) !== undefined;
  const missing = (await Promise.all(images.map(async (image) => ((await has(image)) ? [] : [image])))).flat();
  if (missing.length > 0) return skip(`the engine has no image ${missing.join(', ')}`) as undefined;
  return { engine, has };
}
