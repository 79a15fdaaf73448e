import { describe, expect, it } from 'vitest';
import { listedChecksum } from './checksum-list.ts';
import { type Release, releaseFileFor } from './release.ts';
import { releaseSource } from './release-source.ts';
import { jaegerRelease, k6Release, prometheusRelease, toxiproxyRelease } from './releases.ts';

describe.each([
  ['k6', k6Release, 'k6-v2.2.0-macos-arm64.zip'],
  ['Toxiproxy', toxiproxyRelease, 'toxiproxy_2.12.0_darwin_arm64.tar.gz'],
  ['Jaeger', jaegerRelease, 'jaeger-2.13.0-darwin-arm64.tar.gz'],
  ['Prometheus', prometheusRelease, 'prometheus-3.13.1.darwin-arm64.tar.gz'],
] as const)('the release of %s', (_, release: Release, forAppleSilicon) => {
  const files = Object.values(release.files);

  it('has a separate archive for each platform', () => {
    expect(new Set(files.map(({ name }) => name)).size).toBe(4);
    expect(releaseFileFor(release, 'darwin', 'arm64')?.name).toBe(forAppleSilicon);
    expect(releaseFileFor(release, 'win32', 'x64')).toBeUndefined();
  });

  it('proves each of them by its checksum, or by the release itself', () => {
    const pins = files.map(({ sha256 }) => sha256).filter((sha256) => sha256 !== undefined);
    expect(new Set(pins).size).toBe(pins.length);
    for (const pin of pins) expect(pin).toMatch(/^[0-9a-f]{64}$/);
    expect(pins.length === 4 || release.checksumList !== undefined).toBe(true);
  });
});

it('the archive of Jaeger that an independent record was found for is pinned', () => {
  expect(Object.entries(jaegerRelease.files).filter(([, { sha256 }]) => sha256 !== undefined)).toEqual([
    ['linux-x64', expect.objectContaining({ name: 'jaeger-2.13.0-linux-amd64.tar.gz' })],
  ]);
});

describe('the way to a release', () => {
  const check = (env: NodeJS.ProcessEnv) =>
    releaseSource(k6Release, '/nowhere/k6', { cacheDir: '/nowhere', env }).check();

  it('says what would be downloaded from where', async () => {
    const { PATH } = process.env;
    expect(await check({ PATH })).toMatchObject({
      kind: 'release',
      available: false,
      installable: true,
      detail: expect.stringMatching(/^k6-v2\.2\.0-.* can be downloaded from github\.com \(its checksum is pinned\)$/),
    });
    const mirror = { PATH, SHOPCTL_RELEASES_URL: 'https://user:hidden@mirror.example/github' };
    expect((await check(mirror)).detail).toContain('from mirror.example (');
  });

  it('is not there without tar', async () => {
    expect(await check({ PATH: '/nowhere' })).toMatchObject({ installable: false, detail: 'no "tar" on PATH' });
  });
});

describe('a list of checksums', () => {
  const sum = 'A'.repeat(64);

  it.each([
    ['as sha256sum writes it', `${sum}  k6.zip\n`],
    ['as shasum writes it', `${'b'.repeat(64)} *other\n${sum} *k6.zip\n`],
    ['with a folder', `${sum} *./k6.zip\r\n`],
  ])('%s names the file', (_, list) => {
    expect(listedChecksum(list, 'k6.zip')).toBe('a'.repeat(64));
  });

  it.each(['', '<html>404</html>', `${sum}  k6.zip.asc`, `${sum.slice(1)}  k6.zip`])('"%s" does not', (list) => {
    expect(listedChecksum(list, 'k6.zip')).toBeUndefined();
  });
});
