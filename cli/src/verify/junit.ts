import { stripVTControlCharacters } from 'node:util';
import type { CheckResult } from './check.ts';

/** The results as a JUnit report, one testcase a check: `failed` is a failure, `unknown` an error. Times in seconds. */
export function renderJunit(
  results: readonly CheckResult[],
  { startedAt, tookMs }: { startedAt: Date; tookMs: number },
): string {
  const count = (verdict: CheckResult['verdict']) => results.filter((result) => result.verdict === verdict).length;
  const totals = `tests="${results.length}" failures="${count('failed')}" errors="${count('unknown')}"`;
  const suite = `name="shopctl verify" ${totals} skipped="0" time="${seconds(tookMs)}" timestamp="${startedAt.toISOString()}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals} time="${seconds(tookMs)}">`,
    `  <testsuite ${suite}>`,
    ...results.map(renderCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function renderCase({ id, title, verdict, evidence, details, durationMs }: CheckResult): string {
  const open = `    <testcase classname="shopctl.verify" name="${escapeXml(`${id}: ${title}`)}" time="${seconds(durationMs)}">`;
  const body =
    verdict === 'ok' ? `<system-out>${escapeXml(evidence)}</system-out>` : problem(verdict, evidence, details);
  return `${open}${body}</testcase>`;
}

function problem(verdict: 'failed' | 'unknown', evidence: string, details = ''): string {
  const element = verdict === 'failed' ? 'failure' : 'error';
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
