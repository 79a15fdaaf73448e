import { stripVTControlCharacters } from 'node:util';
import type { CheckResult, CheckVerdict, RunVerdict } from '../shared/verdict.ts';

/** One testcase, of a check or of a whole run. */
export type JunitCase = CheckResult<CheckVerdict | RunVerdict>;

export interface JunitSuite {
  readonly name: string;
  readonly startedAt: Date;
  readonly tookMs: number;
  readonly properties?: Readonly<Record<string, string>>;
  /** Before the group of each case. */
  readonly classname: string;
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

function renderSuite({ name, startedAt, tookMs, properties = {}, classname, cases }: JunitSuite): string[] {
  const attributes = `skipped="${countOf(cases, 'skipped')}" time="${seconds(tookMs)}" timestamp="${startedAt.toISOString()}"`;
  return [
    `  <testsuite name="${escapeXml(name)}" ${totalsOf(cases)} ${attributes}>`,
    ...renderProperties(Object.entries(properties)),
    ...cases.map((one) => renderCase(one, classname)),
    '  </testsuite>',
  ];
}

/** Missing evidence is not a pass but an error. What is not asked for is skipped. */
const ELEMENTS = {
  pass: 'system-out',
  fail: 'failure',
  unknown: 'error',
  skipped: 'skipped',
  dirty: 'failure',
  interrupted: 'error',
} as const satisfies Record<JunitCase['verdict'], string>;

function countOf(cases: readonly JunitCase[], element: (typeof ELEMENTS)[JunitCase['verdict']]): number {
  return cases.filter(({ verdict }) => ELEMENTS[verdict] === element).length;
}

function totalsOf(cases: readonly JunitCase[]): string {
  return `tests="${cases.length}" failures="${countOf(cases, 'failure')}" errors="${countOf(cases, 'error')}"`;
}

function renderProperties(properties: readonly (readonly [string, string])[]): string[] {
  if (properties.length === 0) return [];
  const lines = properties.map(
    ([name, value]) => `      <property name="${escapeXml(name)}" value="${escapeXml(value)}"/>`,
  );
  return ['    <properties>', ...lines, '    </properties>'];
}

function renderCase(one: JunitCase, suite: string): string {
  const { id, group, name, tookMs = 0 } = one;
  const classname = group === undefined ? suite : `${suite}.${group}`;
  const title = id === undefined ? name : `${id}: ${name}`;
  const open = `    <testcase classname="${escapeXml(classname)}" name="${escapeXml(title)}" time="${seconds(tookMs)}">`;
  return `${open}${renderVerdict(one)}</testcase>`;
}

function renderVerdict({ verdict, evidence, details = evidence }: JunitCase): string {
  const element = ELEMENTS[verdict];
  if (element === 'system-out') return `<system-out>${escapeXml(evidence)}</system-out>`;
  if (element === 'skipped') return `<skipped message="${escapeXml(evidence)}"/>`;
  return `<${element} type="${verdict}" message="${escapeXml(evidence)}">${escapeXml(details || evidence)}</${element}>`;
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
