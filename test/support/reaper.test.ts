import { describe, expect, it } from 'vitest';
import { useReaper } from './reaper.ts';

async function decide(images: readonly string[], env: NodeJS.ProcessEnv = {}) {
  let said = '';
  let asked = '';
  const has = async (image: string) => {
    asked = image;
    return images.some((known) => image.startsWith(known));
  };
  await useReaper(has, env, (text) => {
    said += text;
  });
  return { said, asked, env };
}

describe("Testcontainers' reaper", () => {
  it('is used where the engine has its image, in the version that is asked for', async () => {
    const { said, asked, env } = await decide(['testcontainers/ryuk:']);
    expect(asked).toMatch(/^testcontainers\/ryuk:\d+\.\d+\.\d+$/);
    expect([said, env]).toEqual(['', {}]);
  });

  it('is switched off where its image is not there, which is said with what cleans up instead', async () => {
    const { said, asked, env } = await decide([]);
    expect(env).toEqual({ TESTCONTAINERS_RYUK_DISABLED: 'true' });
    expect(said).toContain(`docker pull ${asked}`);
    expect(said).toContain('docker rm -fv $(docker ps -aq --filter label=org.testcontainers=true)');
  });

  it('stays off without a word where its user has switched it off', async () => {
    const { said, asked } = await decide([], { TESTCONTAINERS_RYUK_DISABLED: 'true' });
    expect([said, asked]).toEqual(['', '']);
  });
});
