import { stripVTControlCharacters } from 'node:util';

/** One thing that was checked. `failed` becomes a failure; `unknown` an error, because missing evidence is no pass. */
export interface JunitCase {
  readonly classname: string;
  readonly name: string;
  readonly outcome: 'ok' | 'failed' | 'unknown';
  /** Names the kind of a failure; default: the outcome. */
  readonly problem?: string;
  /** What was seen, one line. */
  readonly evidence: string;
  /** More for people. */
  readonly details?: string;
  readonly tookMs: number;
}

export interface JunitSuite {
  readonly name: string;
  readonly startedAt: Date;
  readonly tookMs: number;
  readonly properties?: Readonly<Record<string, string>>;
  readonly cases: readonly JunitCase[];
}

/** A JUnit report. Times are written in seconds. */
export function renderJunitSuites(suites: readonly JunitSuite[]): string {
  const tookMs = suites.reduce((sum, suite) => sum + suite.tookMs, 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totalsOf(suites.flatMap(({ cases }) => cases))} time="${seconds(tookMs)}">`,
    ...suites.flatMap(renderSuite),
    '</testsuites>',
    '',
  ].join('\n');
}

function renderSuite({ name, startedAt, tookMs, properties = {}, cases }: JunitSuite): string[] {
  const attributes = `skipped="0" time="${seconds(tookMs)}" timestamp="${startedAt.toISOString()}"`;
  return [
    `  <testsuite name="${escapeXml(name)}" ${totalsOf(cases)} ${attributes}>`,
    ...renderProperties(Object.entries(properties)),
    ...cases.map(renderCase),
    '  </testsuite>',
  ];
}

function totalsOf(cases: readonly JunitCase[]): string {
  const count = (outcome: JunitCase['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  return `tests="${cases.length}" failures="${count('failed')}" errors="${count('unknown')}"`;
}

function renderProperties(properties: readonly (readonly [string, string])[]): string[] {
  if (properties.length === 0) return [];
  const lines = properties.map(
    ([name, value]) => `      <property name="${escapeXml(name)}" value="${escapeXml(value)}"/>`,
  );
  return ['    <properties>', ...lines, '    </properties>'];
}

function renderCase(one: JunitCase): string {
  const open = `    <testcase classname="${escapeXml(one.classname)}" name="${escapeXml(one.name)}" time="${seconds(one.tookMs)}">`;
  const body = one.outcome === 'ok' ? `<system-out>${escapeXml(one.evidence)}</system-out>` : renderProblem(one);
  return `${open}${body}</testcase>`;
}

function renderProblem({ outcome, problem = outcome, evidence, details = '' }: JunitCase): string {
  const element = outcome === 'failed' ? 'failure' : 'error';
  return `<${element} type="${escapeXml(problem)}" message="${escapeXml(evidence)}">${escapeXml(details || evidence)}</${element}>`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Text and attribute values alike. Characters that XML 1.0 cannot hold in any form are replaced. */
export function escapeXml(text: string): string {
  return stripVTControlCharacters(text)
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
