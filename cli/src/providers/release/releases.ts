import type { Release, ReleaseFile, ReleasePlatform } from './release.ts';

/** The names that Go programs give platforms in their files. */
const goNames = {
  'linux-x64': ['linux', 'amd64'],
  'linux-arm64': ['linux', 'arm64'],
  'darwin-x64': ['darwin', 'amd64'],
  'darwin-arm64': ['darwin', 'arm64'],
} as const satisfies Record<ReleasePlatform, readonly [string, string]>;

type GoName<Index extends 0 | 1> = (typeof goNames)[ReleasePlatform][Index];

function filesOf(describe: (os: GoName<0>, arch: GoName<1>, platform: ReleasePlatform) => ReleaseFile) {
  const entries = Object.entries(goNames).map(([platform, [os, arch]]) => [
    platform,
    describe(os, arch, platform as ReleasePlatform),
  ]);
  return Object.fromEntries(entries) as Record<ReleasePlatform, ReleaseFile>;
}

/** Source of the checksums: the release's k6-v2.2.0-checksums.txt, as package managers have recorded it (decision 0022). */
const k6Checksums: Readonly<Record<ReleasePlatform, string>> = {
  'linux-x64': 'b5a8003c86f35f5cd5ceef1490312c48e587696c94d998cefc6d7b3b4cb1597d',
  'linux-arm64': '4ecd64cadcc792402d16293836115480419c4447c032858f564852d98f1bf54c',
  'darwin-x64': '45a08590511c8a6a9c6331645e60c41624924e848e29472e87c60ac956d50372',
  'darwin-arm64': '37a028506bf13578de66c906296803775df28cc2504b1a8c5d786b2803e757c7',
};

export const k6Release: Release = {
  title: 'k6',
  version: 'v2.2.0',
  folder: 'grafana/k6/releases/download/v2.2.0/',
  files: filesOf((os, arch, platform) => {
    const stem = `k6-v2.2.0-${os === 'darwin' ? 'macos' : os}-${arch}`;
    const name = `${stem}.${os === 'darwin' ? 'zip' : 'tar.gz'}`;
    return { name, program: `${stem}/k6`, sha256: k6Checksums[platform] };
  }),
};

/** Source of the checksums: the release's checksums.txt, as package managers have recorded it (decision 0022). */
const toxiproxyChecksums: Readonly<Record<ReleasePlatform, string>> = {
  'linux-x64': '65e042d3fc2290c099527bc506446a6fd863a09f113b8944b636ece70221c2b3',
  'linux-arm64': 'ab417dafc77ae8b54ec8461cc5da5180d0465a61dcbda86c72da72ee4ab843b7',
  'darwin-x64': '52ac1f99d7204b4b523f910b791bc86318b50ef94822c79a6157606704003ced',
  'darwin-arm64': 'cece3905c06ad84d6b3bb4cd024c344e6466736b2a8cbaf9ef4fe45e62aba9b2',
};

export const toxiproxyRelease: Release = {
  title: 'Toxiproxy',
  version: 'v2.12.0',
  folder: 'Shopify/toxiproxy/releases/download/v2.12.0/',
  files: filesOf((os, arch, platform) => ({
    name: `toxiproxy_2.12.0_${os}_${arch}.tar.gz`,
    program: 'toxiproxy-server',
    sha256: toxiproxyChecksums[platform],
  })),
};

/**
 * Source: the Nix package that pins the archive of the same release (decision 0022). No independent record of the other
 * three was found: they are checked against the release's own list.
 */
const jaegerChecksums: Readonly<Partial<Record<ReleasePlatform, string>>> = {
  'linux-x64': '7c628b5ddde7b5439b2b6480fb3f319310b2153592311151e4c2e2d45f6ded13',
};

/** Jaeger 2.13.0 was published with 1.76.0, from the same sources and under its tag. */
export const jaegerRelease: Release = {
  title: 'Jaeger',
  version: 'v2.13.0',
  folder: 'jaegertracing/jaeger/releases/download/v1.76.0/',
  files: filesOf((os, arch, platform) => {
    const stem = `jaeger-2.13.0-${os}-${arch}`;
    const sha256 = jaegerChecksums[platform];
    return { name: `${stem}.tar.gz`, program: `${stem}/jaeger`, ...(sha256 !== undefined && { sha256 }) };
  }),
  checksumList: 'jaeger-2.13.0.sha256sum.txt',
};

/** Source of the checksums: the release's sha256sums.txt, as others have recorded it (decisions 0022 and 0095). */
const prometheusChecksums: Readonly<Record<ReleasePlatform, string>> = {
  'linux-x64': '962b812371aff838d152b6ff2d56fdb7a6396f5542f48ebf73421b9721f0d103',
  'linux-arm64': 'fbd8e5e0f6ad2e7d053e717739186caee4fd0cab2cf9335bfc86c292fe2a2bfe',
  'darwin-x64': 'bc6cef4bdbeb3d0974ac161684dd2a0c4d4e341a13a4a634917b1c09d0f33fc5',
  'darwin-arm64': '28d1f1224b2a22f84c801487fad4b3bd58f94a8cb58cf9340557e787030c9703',
};

/** A release with long-term support; Prometheus and promtool are in one archive. */
export const prometheusRelease: Release = {
  title: 'Prometheus',
  version: 'v3.13.1',
  folder: 'prometheus/prometheus/releases/download/v3.13.1/',
  files: filesOf((os, arch, platform) => {
    const stem = `prometheus-3.13.1.${os}-${arch}`;
    return {
      name: `${stem}.tar.gz`,
      program: `${stem}/prometheus`,
      also: [`${stem}/promtool`],
      sha256: prometheusChecksums[platform],
    };
  }),
};
