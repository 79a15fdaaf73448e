import type { TestPlatform } from '../../support/platform.ts';

/** Runs a command of shopctl on a platform. Throws with its output when it fails. */
export async function command(platform: TestPlatform, ...args: string[]): Promise<void> {
  const { code, stderr } = await platform.shopctl(...args);
  if (code !== 0) throw new Error(`shopctl ${args.join(' ')} ended with ${code}: ${stderr}`);
}
