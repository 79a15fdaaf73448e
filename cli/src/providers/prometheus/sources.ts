import { prometheusRelease } from '../release/releases.ts';

/** The module's versions are those of the releases, as v0.3MM.P: the module path has no `/v3`. */
const MODULE_VERSION = prometheusRelease.version.replace(
  /^v3\.(\d+)\./,
  (_, minor: string) => `v0.3${minor.padStart(2, '0')}.`,
);

/**
 * How Prometheus and promtool are built: without service discovery, of which one machine has no use, and with the version that
 * they would otherwise not know.
 */
export const prometheusProgram = {
  command: 'prometheus',
  go: {
    modulePath: 'github.com/prometheus/prometheus',
    mainPackage: 'cmd/prometheus',
    also: ['cmd/promtool'],
    version: MODULE_VERSION,
    tags: 'netgo,remove_all_sd',
    ldflags: `-X github.com/prometheus/common/version.Version=${prometheusRelease.version.slice(1)}`,
  },
  buildTime: 'about four minutes, 2 GB of sources and build cache meanwhile; its pages are left out',
} as const;

/** Debian's, with both programs. */
export const prometheusPackage = { package: 'prometheus', check: ['--version'], size: '19 MB' } as const;
