import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSlos } from '../../cli/src/slo/catalog.ts';
import { profiles } from '../../cli/src/slo/profiles.ts';
import { alertsOf } from '../../dashboards/alerts/all.ts';
import {
  type Instrument,
  instrumentsIn,
  OTHER_SERIES,
  problemsOfExpression,
  seriesOfInstrument,
} from '../../dashboards/metrics.ts';
import { WINDOW } from '../../dashboards/model.ts';
import { notShown, pagesOf } from '../../dashboards/pages.ts';
import { seriesIn } from '../../dashboards/promql.ts';
import { rulesOf } from '../../dashboards/rule-files.ts';
import { scenarioFiles } from '../../dashboards/rule-tests.ts';

const root = new URL('../../', import.meta.url).pathname;
const slos = await readSlos(root);
const instruments = instrumentsIn(readFileSync(`${root}docs/metrics.md`, 'utf8'));
const exported = [...instruments.flatMap(seriesOfInstrument), ...OTHER_SERIES];
const recordedIn = (profile: (typeof profiles)[keyof typeof profiles]) =>
  rulesOf(slos, profile).recording.flatMap(({ rules }) => rules.map(({ record }) => record));

describe.each(Object.values(profiles))('the rules of $name', (profile) => {
  const { recording, alerts } = rulesOf(slos, profile);
  const recorded = recordedIn(profile);
  // One SLO reads what only a supervisor records, and has no data for it elsewhere.
  const known = new Set([...exported, ...recorded, 'shop:queue_stalled']);

  it('are PromQL, and read what a process exports or a rule records', () => {
    const rules: readonly { readonly expr: string }[] = [...recording, ...alerts].flatMap((group) => [...group.rules]);
    expect(rules.flatMap(({ expr }) => problemsOfExpression(expr, known))).toEqual([]);
  });

  it('have rates over the window that their name says', () => {
    const rates = recording.flatMap(({ rules }) => rules).filter(({ record }) => /:rate\w+$/.test(record));
    expect(rates.length).toBeGreaterThan(20);
    for (const { record, expr } of rates) {
      const window = /:rate(\w+)$/.exec(record)?.[1];
      const ranges = [...expr.matchAll(/\[(\w+)\]/g)].map(([, range]) => range);
      expect([...new Set(ranges)], record).toEqual(record.startsWith('slo:bad_ratio') ? [] : [window]);
    }
  });

  it('have budgets over the time window of their SLO', () => {
    const budgets = recording.find(({ name }) => name === 'slo-budget')?.rules ?? [];
    const ranges = budgets.flatMap(({ expr }) => [...expr.matchAll(/\[(\w+)\]/g)].map(([, range]) => range));
    expect([...new Set(ranges)]).toEqual([profile.windowFor(slos[0]?.window ?? '')]);
  });

  it('are evaluated behind those that they read', () => {
    const order = recording.flatMap(({ rules }) => rules);
    const late = order.flatMap(({ record, expr }, index) =>
      seriesIn(expr)
        .filter(
          (name) =>
            recorded.includes(name) &&
            order.findLastIndex((rule) => rule.record === name) > index &&
            order.findIndex((rule) => rule.record === name) > index,
        )
        .map((name) => `${record} reads ${name}`),
    );
    expect(late).toEqual([]);
  });

  it('have at least four cases for each alert: it fires, does not yet, resolves, has no data', () => {
    const files = scenarioFiles(slos, profile);
    for (const { name, labels } of alertsOf(slos, profile)) {
      const cases = files
        .filter((file) => file.alert === name && file.burn === labels?.burn)
        .flatMap(({ scenarios }) =>
          scenarios.flatMap((scenario) => scenario.expect.map((one) => ({ ...one, of: scenario.name }))),
        );
      // It always fires, so it has no other state.
      if (name === 'Watchdog') continue;
      const of = (isWanted: (one: (typeof cases)[number]) => boolean) => cases.filter(isWanted).length;
      expect(
        of(({ fires }) => fires.length > 0),
        `${name} fires`,
      ).toBeGreaterThan(0);
      expect(
        of(({ because, fires }) => fires.length === 0 && because.startsWith('resolved')) +
          of(({ of }) => of.startsWith('resolved')),
        `${name} resolves`,
      ).toBeGreaterThan(0);
      expect(
        of(({ of }) => of === 'no data'),
        `${name} without data`,
      ).toBe(1);
      expect(
        of(({ fires, because, of }) => fires.length === 0 && of !== 'no data' && !because.startsWith('resolved')),
        `${name} just below`,
      ).toBeGreaterThan(0);
    }
  });

  it('have pages for symptoms only, without values in labels and annotations, each with its runbook and dashboard', () => {
    const pages = pagesOf(slos).map(({ id }) => `/d/shop-${id}`);
    for (const { alert, labels, annotations, for: holdsFor } of alerts.flatMap(({ rules }) => rules)) {
      expect(JSON.stringify({ labels, annotations })).not.toContain('{{');
      expect(Object.keys(annotations).toSorted()).toEqual(['dashboard', 'impact', 'runbook', 'slo', 'summary']);
      expect(annotations.runbook).toBe(`docs/runbooks/${alert}.md`);
      expect(pages).toContain(annotations.dashboard);
      if (labels.burn !== undefined) expect(holdsFor).toBe('0s');
    }
  });
});

describe('the pages', () => {
  const known = new Set([...exported, ...recordedIn(profiles.laptop)]);
  const pages = pagesOf(slos);
  const panels = pages.flatMap((page) => page.rows.flatMap((row) => row.panels.map((panel) => ({ page, panel }))));
  const inMinutes = (expr: string) => expr.replaceAll(WINDOW, '1m');

  it('have expressions that are PromQL, and read what a process exports or a rule records', () => {
    const problems = panels.flatMap(({ page, panel }) =>
      panel.queries.flatMap(({ expr }) =>
        problemsOfExpression(inMinutes(expr), known).map((problem) => `${page.id}, ${panel.title}: ${problem}`),
      ),
    );
    expect(problems).toEqual([]);
  });

  it('have variables for each that an expression holds', () => {
    for (const { page, panel } of panels) {
      const names = page.variables.map(({ name }) => `$${name}`);
      const used = panel.queries.flatMap(({ expr }) => expr.match(/\$\w+/g) ?? []);
      expect(
        used.filter((name) => name !== WINDOW && !names.includes(name)),
        panel.title,
      ).toEqual([]);
    }
  });

  it('fill each row of 24 columns at most, and have titles that differ on a page', () => {
    for (const { id, rows } of pages) {
      const titles = rows.flatMap((row) => row.panels.map(({ title }) => title));
      expect(titles.toSorted(), id).toEqual([...new Set(titles)].toSorted());
    }
    expect(panels.filter(({ panel }) => panel.width < 1 || panel.width > 24)).toEqual([]);
  });

  it('show every instrument of docs/metrics.md, but those that are listed with a reason', () => {
    const shown = new Set(
      panels.flatMap(({ panel }) => panel.queries.flatMap(({ expr }) => seriesIn(inMinutes(expr)))),
    );
    const isShown = (instrument: Instrument) => seriesOfInstrument(instrument).some((name) => shown.has(name));
    expect(instruments.filter((one) => !isShown(one)).map(({ name }) => name)).toEqual(Object.keys(notShown));
  });
});

describe('an expression', () => {
  const known = new Set(['shop_sagas_total', 'shop_outbox_pending']);
  it.each([
    ['sum(rate(shop_sagas_total[1m]))', []],
    ['sum(rate(shop_saga_total[1m]))', ['no process exports shop_saga_total, did you mean shop_sagas_total?']],
    ['max(shop_outbox_pending) + up', ['no process exports up']],
    ['sum(rate(shop_sagas_total[1m])', ['not PromQL at character 31: its end']],
  ])('%s: %s', (expr, problems) => {
    expect(problemsOfExpression(expr, known)).toEqual(problems);
  });
});
