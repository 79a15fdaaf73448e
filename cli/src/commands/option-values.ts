import { isSeededBugName, type SeededBugName, seededBugs } from '@shop/kit/seeded-bug-names.ts';
import { InvalidArgumentError } from 'commander';
import { MAX_PLATFORMS } from '../experiments/run/schedule.ts';
import { MAX_REPLICAS } from '../platform/plan.ts';
import { type PlatformPart, platformParts } from '../platform/start-options.ts';
import { componentWays } from '../providers/component.ts';
import { toolWays } from '../providers/tool.ts';
import { ageMs, durationMs } from '../shared/duration.ts';
import { isPort, isPortOrAny } from '../shared/port-number.ts';

/** The longest that a timer can wait, s: one that is longer expires immediately. */
const MAX_SECONDS = 2_147_483;

/** A positive number of seconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0) throw new InvalidArgumentError('expected a number of seconds above 0');
  if (seconds > MAX_SECONDS) throw new InvalidArgumentError(`expected at most ${MAX_SECONDS} seconds`);
  return seconds;
}

/** `200ms`, `3s`, `1m`, in ms. */
export function parseDuration(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a number and its unit, like 200ms, 3s or 1m');
  return ms;
}

/** A whole number from 0 on. */
export function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number, 0 or more');
  return Number(text);
}

/** A TCP port to listen on; 0: any free one. */
export function parsePort(text: string): number {
  if (!isPortOrAny(text)) throw new InvalidArgumentError('expected a port from 1 to 65535, or 0 for any free one');
  return Number(text);
}

/** A whole number from 1 on: with none there would be nothing to do, and nothing to check. */
export function parsePositive(text: string): number {
  if (!/^0*[1-9]\d*$/.test(text)) throw new InvalidArgumentError('expected a whole number, 1 or more');
  return Number(text);
}

/** A number above 0: 0.1, 2. */
export function parseFactor(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(value > 0)) throw new InvalidArgumentError('expected a number above 0, such as 0.1');
  return value;
}

/** A whole number from 1 to the most platforms that one command may run side by side. */
export function parsePlatforms(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_PLATFORMS) {
    throw new InvalidArgumentError(`expected a whole number, 1 to ${MAX_PLATFORMS}`);
  }
  return count;
}

/** `orders=2`, several times or separated by commas; 1 to 9 replicas. */
export function parseReplicas(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const pairs = parsePairs(text, 'orders=2').map(([service, count]) => {
    if (!/^[1-9]$/.test(count)) throw new InvalidArgumentError(`expected 1 to 9 replicas of ${service}`);
    return [service, Number(count)];
  });
  return { ...earlier, ...Object.fromEntries(pairs) };
}

/** `orders=3`, several times or separated by commas; what numbers a service may have is said by the platform. */
export function parseScale(text: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
  const pairs = parsePairs(text, 'orders=3').map(([service, count]) => {
    if (!/^\d{1,4}$/.test(count)) throw new InvalidArgumentError(`expected a number of replicas of ${service}`);
    return [service, Number(count)];
  });
  return { ...earlier, ...Object.fromEntries(pairs) };
}

/** `orders`, `orders=9229`, several times or separated by commas; null where the port is left open. */
export function parseInspect(
  text: string,
  earlier: Readonly<Record<string, number | null>> = {},
): Record<string, number | null> {
  const pairs = text.split(',').map((pair): [string, number | null] => {
    const [service = '', port, ...more] = pair.split('=');
    if (service === '' || more.length > 0)
      throw new InvalidArgumentError('expected a service, or something like orders=9229');
    if (port === undefined) return [service, null];
    const last = 65_535 - MAX_REPLICAS + 1;
    if (!isPort(port) || Number(port) > last) throw new InvalidArgumentError(`expected a port from 1 to ${last}`);
    return [service, Number(port)];
  });
  return { ...earlier, ...Object.fromEntries(pairs) };
}

/** `postgres=docker`, several times or separated by commas. */
export function parseProviders(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...earlier, ...parseWays(text, 'postgres=docker', componentWays) };
}

/** `k6=release`: the same with the programs that commands use. */
export function parseSources(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...earlier, ...parseWays(text, 'k6=release', { ...componentWays, ...toolWays }) };
}

function parseWays(
  text: string,
  example: string,
  ways: Readonly<Record<string, readonly string[]>>,
): Record<string, string> {
  const pairs = parsePairs(text, example);
  for (const [name, kind] of pairs) {
    const kinds = Object.hasOwn(ways, name) ? ways[name] : undefined;
    if (kinds === undefined) throw new InvalidArgumentError(`components are ${Object.keys(ways).join(', ')}`);
    if (!kinds.includes(kind)) throw new InvalidArgumentError(`kinds of ${name} are ${kinds.join(', ')}`);
  }
  return Object.fromEntries(pairs);
}

/** `no-inbox`, several times or separated by commas. */
export function parseSeededBugNames(text: string, earlier: readonly SeededBugName[] = []): readonly SeededBugName[] {
  const names = text.split(',').map((name) => {
    if (!isSeededBugName(name)) throw new InvalidArgumentError(`seeded bugs are ${Object.keys(seededBugs).join(', ')}`);
    return name;
  });
  return [...new Set([...earlier, ...names])];
}

/** `alerts`, several times or separated by commas. */
export function parseParts(text: string, earlier: readonly PlatformPart[] = []): readonly PlatformPart[] {
  const parts = text.split(',').map((name) => {
    const part = platformParts.find((known) => known === name);
    if (part === undefined) throw new InvalidArgumentError(`parts are ${platformParts.join(', ')}`);
    return part;
  });
  return [...new Set([...earlier, ...parts])];
}

function parsePairs(text: string, example: string): [string, string][] {
  return text.split(',').map((pair) => {
    const [key, value, ...more] = pair.split('=');
    if (!key || !value || more.length > 0) throw new InvalidArgumentError(`expected something like ${example}`);
    return [key, value];
  });
}

/** A moment: `90s`, `10m`, `2h`, `1d` ago, or an ISO time. Resolves to ms since the epoch. */
export function parseSince(text: string, nowMs = Date.now()): number {
  const age = ageMs(text);
  if (age !== undefined) return nowMs - age;
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new InvalidArgumentError('expected an age (90s, 10m, 2h) or an ISO time');
  return moment;
}
