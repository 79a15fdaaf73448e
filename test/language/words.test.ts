import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, sentencesOf } from './prose.ts';
import { bannedWords } from './words.ts';

const root = join(import.meta.dirname, '../..');
const MAX_WORDS = 30;

/** Generated from the definitions of the commands; their texts are checked there. */
const GENERATED = ['docs/cli.md'];

/** Lists of renamed options, keys and symbols: the old names have to stand there. */
const RENAMINGS = ['CHANGELOG.md'];

/** Terms that contain a banned word and are not ours to change. Each has its reason. */
const allowed: readonly RegExp[] = [];

/** Pages that are still to be rewritten. This list only shrinks. */
const UNCHECKED: readonly string[] = [
  'docs/architecture.md',
  'docs/contracts.md',
  'docs/decisions/0001-telemetry-bundle.md',
  'docs/decisions/0002-built-in-trace-store.md',
  'docs/decisions/0003-connection-per-query.md',
  'docs/decisions/0004-idempotency-key-lookup-untraced.md',
  'docs/decisions/0005-one-lease-per-instance.md',
  'docs/decisions/0006-order-and-saga-in-one-row.md',
  'docs/decisions/0007-answers-when-the-outcome-is-open.md',
  'docs/decisions/0008-broker-from-unpacked-packages.md',
  'docs/decisions/0009-no-orphans.md',
  'docs/decisions/0010-load-from-one-line-an-order.md',
  'docs/decisions/0011-faults-not-experiments-under-load.md',
  'docs/decisions/0012-ink-without-jsx.md',
  'docs/decisions/0013-terminal-guard.md',
  'docs/decisions/0014-statements-sent-together.md',
  'docs/decisions/0015-what-tracing-costs.md',
  'docs/decisions/0016-pact-and-recorded-grpc.md',
  'docs/decisions/0017-own-comparer-of-schemas.md',
  'docs/decisions/0018-containers-on-the-host-network.md',
  'docs/decisions/0019-compose-by-definition.md',
  'docs/decisions/0020-manifests-checked-not-generated.md',
  'docs/decisions/0021-spans-made-by-the-doors.md',
  'docs/decisions/0022-releases-by-pinned-checksum.md',
  'docs/decisions/0023-what-a-breaker-counts.md',
  'docs/decisions/0024-rules-judged-by-the-audit.md',
  'docs/decisions/0025-replicas-and-breakers.md',
  'docs/decisions/0026-the-lame-duck-phase.md',
  'docs/decisions/0027-trace-context-of-clients.md',
  'docs/decisions/0028-the-database-refuses-impossible-rows.md',
  'docs/decisions/0029-what-is-no-experiment.md',
  'docs/decisions/0030-assertions-read-the-supervisors-store.md',
  'docs/decisions/0031-socket-in-the-state-folder.md',
  'docs/decisions/0032-one-statement-after-another.md',
  'docs/decisions/0040-effects-are-appended.md',
  'docs/decisions/0041-prices-are-compared-with-the-catalogs.md',
  'docs/decisions/0043-failed-messages-wait-in-a-queue.md',
  'docs/decisions/0045-public-api-of-libraries.md',
  'docs/decisions/0046-sagas-are-counted-in-memory.md',
  'docs/decisions/0047-what-an-error-of-the-server-means.md',
  'docs/decisions/0049-what-is-deleted-and-what-is-kept.md',
  'docs/decisions/0050-books-are-deleted-after-two-years.md',
  'docs/decisions/0054-one-thin-client-of-toxiproxy.md',
  'docs/decisions/0056-experiments-repeat-steps-with-for-each.md',
  'docs/decisions/0057-write-ahead-log-of-the-broker.md',
  'docs/decisions/0059-one-verdict.md',
  'docs/docker.md',
  'docs/kubernetes.md',
  'docs/load.md',
  'docs/performance.md',
  'docs/scaling.md',
  'docs/traces.md',
];

const pages = globSync(['docs/**/*.md', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'], { cwd: root })
  .filter((path) => !GENERATED.includes(path))
  .toSorted();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** `line: word -> what to write instead`. */
function bannedIn(path: string): readonly string[] {
  return blocksOf(read(path)).flatMap(({ line, text }) => {
    const own = allowed.reduce((rest, term) => rest.replaceAll(term, ''), text);
    return bannedWords.flatMap(([pattern, instead]) => {
      const found = pattern.exec(own);
      return found === null ? [] : [`${path}:${line}: "${found[0]}" -> ${instead}`];
    });
  });
}

function longIn(path: string): readonly string[] {
  if (RENAMINGS.includes(path)) return [];
  return sentencesOf(read(path))
    .filter(({ words }) => words > MAX_WORDS)
    .map(({ line, words, text }) => `${path}:${line}: ${words} words: ${text}`);
}

describe('the language of the pages', () => {
  it.each(pages.filter((path) => !UNCHECKED.includes(path)))('%s uses the terms of the glossary', (path) => {
    expect(bannedIn(path)).toEqual([]);
  });

  it.each(pages.filter((path) => !UNCHECKED.includes(path)))(`%s has no sentence over ${MAX_WORDS} words`, (path) => {
    expect(longIn(path)).toEqual([]);
  });

  it('is checked on every page that passes', () => {
    expect(UNCHECKED.filter((path) => bannedIn(path).length + longIn(path).length === 0)).toEqual([]);
  });
});
