import { describe, expect, it } from 'vitest';
import { createStyle } from '../../output/style.ts';
import { evaluateSilent } from './evaluate.ts';
import { parseSilentJournal, type SituationRecord } from './journal.ts';
import { renderSilent, renderSilentHtml, silentAsJson, suiteOfSilent } from './render.ts';
import { aSilentStart, aSituation, aSituationRecord } from './testing/situation-records.ts';

const page = { alertname: 'Failing', severity: 'page', burn: 'fast', firedMs: 31_000, resolvedMs: 60_000 } as const;
const cause = { alertname: 'Explains', severity: 'cause', firedMs: 30_000, resolvedMs: 60_000 } as const;
const outage = { seconds: Array.from({ length: 60 }, () => [10, 9, 9, 0] as const) };

/** What a journal with these records shows, of two situations. */
function evaluated(...records: readonly SituationRecord[]) {
  const start = aSilentStart([aSituation('idle'), aSituation('spike')], ['ramp']);
  return evaluateSilent({ start, records, tookMs: 200_000 });
}

const idle = aSituationRecord('idle');

describe('a list', () => {
  it.each<[string, Partial<SituationRecord>, string, readonly string[]]>([
    ['passes without a page', {}, 'pass', []],
    ['passes with tickets and causes', { firings: [cause] }, 'pass', []],
    ['fails with a page', { firings: [cause, page] }, 'fail', ['paged: Failing fast after 31 s']],
    [
      'fails with a page also where customers were hit, and says how',
      { firings: [page], ...outage },
      'fail',
      ['paged: Failing fast after 31 s', 'more than 7.2 % failed in 60 s after 3 s'],
    ],
    [
      'is unknown where the machine was too busy',
      { firings: [page], problems: ['busy'] },
      'unknown',
      ['busy', 'paged: Failing fast after 31 s'],
    ],
  ])('%s', (_, more, verdict, reasons) => {
    const report = evaluated(idle, aSituationRecord('spike', more));
    expect(report.verdict).toBe(verdict);
    expect(report.situations[1]).toMatchObject({ verdict, reasons });
  });

  it('is unknown until every situation was measured', () => {
    expect(evaluated(idle)).toMatchObject({ verdict: 'unknown', open: ['spike'], pages: 0 });
  });
});

it('reports each situation, what is open and what was left out', () => {
  const report = evaluated(aSituationRecord('idle', { firings: [page, cause] }));
  const text = renderSilent(report, createStyle({ enabled: false }));
  expect(text).toMatch(/fail +idle +1 min 20 s +600 +1 +none +Explains after 30 s/);
  expect(text).toContain('idle: paged: Failing fast after 31 s');
  expect(text).toContain('not measured: spike');
  expect(text).toContain('left out: ramp, which needs --knee');
  expect(silentAsJson(report)).toMatchObject({ pages: 1, situations: [{ name: 'idle', pages: [expect.any(String)] }] });
  expect(suiteOfSilent(report).cases).toEqual([
    { group: 'silent', name: 'idle', verdict: 'fail', evidence: 'paged: Failing fast after 31 s' },
  ]);
  expect(renderSilentHtml(report)).toContain('<th scope="row">idle</th><td class="fail">fail</td>');
});

describe('a journal', () => {
  const start = JSON.stringify(aSilentStart([aSituation('idle')]));
  const record = JSON.stringify(aSituationRecord('idle', { problems: ['busy'] }));

  it('has the last record of a situation, without a line that was cut off', () => {
    const again = JSON.stringify(aSituationRecord('idle'));
    const { records, tookMs } = parseSilentJournal(
      [start, record, '{"type":"end","tookMs":5,"verdict":"interrupted"}', again, '{"type":"situ'].join('\n'),
    );
    expect(records).toMatchObject([{ situation: { name: 'idle' }, problems: [] }]);
    expect(tookMs).toBe(5);
  });

  it.each([
    ['of something else', record, /not the start/],
    ['of another version', start.replace('/v1', '/v9'), /version shop.alert-silent\/v9/],
  ])('is refused: one %s', (_, text, message) => {
    expect(() => parseSilentJournal(text)).toThrow(message);
  });
});
