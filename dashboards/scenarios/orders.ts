import type { Profile } from '../../cli/src/slo/profiles.ts';
import { windowIn } from '../../cli/src/slo/series.ts';
import { windowS } from '../../cli/src/slo/window.ts';
import {
  counter,
  fires,
  gauge,
  type InputSeries,
  type Phase,
  type Scenario,
  type ScenarioFile,
  series,
  silent,
} from '../scenario.ts';
import { outcome, posts, supervisor } from './inputs.ts';

export function probesFailing(keepS: number): ScenarioFile {
  return {
    name: 'ProbesFailing',
    alert: 'ProbesFailing',
    stepS: 1,
    scenarios: [
      {
        name: 'two probes fail, then three',
        series: [series('shop_probe_success', supervisor, gauge([8, 1], [2, 0], [8, 1], [3, 0], [8 + keepS, 1]))],
        expect: [
          silent(7, 'all succeed'),
          silent(9, 'two failed'),
          fires(20, 'three of five failed'),
          silent(28 + keepS, 'resolved'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(6, 'there is no probe')] },
    ],
  };
}

/** `B` a bad order, `G` a good one, `.` none; each stands for a step. */
function ordersByStep(text: string): readonly InputSeries[] {
  const phases = (kinds: string): readonly Phase[] => [...text].map((one): Phase => [1, kinds.includes(one) ? 1 : 0]);
  return [
    posts('201', counter(...phases('G'))),
    posts('200', counter(...phases('B'))),
    outcome('payment_unavailable', counter(...phases('B'))),
    outcome('declined', counter(...phases('G'))),
  ];
}

export function failingAtLowTraffic(keepS: number): ScenarioFile {
  const stepS = 20;
  // Each minute of three steps is evaluated, so cases are at whole minutes.
  const inMinutes = (text: string) => text.padStart(Math.ceil(text.length / 3) * 3, '.');
  const end = (text: string) => text.length * stepS;
  const closely = inMinutes(`${'G'.repeat(16)}.B.B.B`);
  const resolved = `${closely}G..${'...'.repeat(Math.ceil(keepS / 60))}`;
  const loosely = `${'G'.repeat(16)}....B....B....B`;
  const rarely = `..........G${'.'.repeat(20)}B..........B..........B`;
  const twoBad = `.....B..B${'.'.repeat(3)}`;
  const between = '...B..B..G..B..B';
  const cases: readonly (readonly [name: string, text: string, firing: boolean])[] = [
    ['three in two minutes, after a good one', closely, true],
    ['three in five minutes, after a good one', loosely, true],
    ['three in ten minutes, after a good one', rarely, true],
    ['two', twoBad, false],
    ['four, with a good one between', between, false],
    ['four in two minutes, with a good one between', '..........BGB.BB', false],
    [
      'four in ten minutes, with a good one between',
      `..........B${'.'.repeat(6)}B${'.'.repeat(6)}G${'.'.repeat(6)}B${'.'.repeat(6)}B`,
      false,
    ],
    ['no order at all', '.'.repeat(30), false],
  ];
  return {
    name: 'OrdersFailingAtLowTraffic',
    alert: 'OrdersFailingAtLowTraffic',
    stepS,
    scenarios: [
      ...cases.map(([name, row, firing]): Scenario => {
        const text = inMinutes(row);
        return {
          name,
          series: ordersByStep(text),
          expect: [
            firing ? fires(end(text), 'they failed in a row') : silent(end(text), 'that is not a row of failures'),
          ],
        };
      }),
      {
        name: 'resolved by a good one',
        series: ordersByStep(resolved),
        expect: [fires(end(closely), 'they failed in a row'), silent(end(resolved), 'the last one was good')],
      },
      { name: 'no data', series: [], expect: [silent(60, 'nothing is reported')] },
    ],
  };
}

/** The window of the fast burn is an hour in production: steps of 20 s would take most of the time of all tests. */
export function failingInFastWindow(profile: Profile): ScenarioFile {
  const stepS = profile.hasSupervisor ? 20 : 60;
  const low = windowS(windowIn(profile, '1h')) / stepS;
  // All cases are at this time, so it is all that is evaluated.
  const end = low + 17;
  const many = (perWindow: number) => [
    posts('503', counter([end - low - 10, 0], [low + 10, perWindow / low])),
    posts('201', counter([end, 0])),
  ];
  return {
    name: 'OrdersFailingAtLowTraffic-window',
    alert: 'OrdersFailingAtLowTraffic',
    stepS,
    scenarios: [
      {
        name: '19 in the window of the fast burn, all bad',
        series: many(19),
        expect: [fires(end * stepS, 'too few for a burn rate')],
      },
      {
        name: '30 in the window of the fast burn, all bad',
        series: many(30),
        expect: [silent(end * stepS, 'enough for a burn rate')],
      },
      // An hour of production is longer than any row of failures that is looked for.
      ...(profile.hasSupervisor
        ? [
            {
              name: 'many in the window before, then four, all bad',
              series: [
                posts('503', counter([end - 2 * low, 0], [low, 300 / low], [low, 4 / low])),
                posts('201', counter([end, 0])),
              ],
              expect: [fires(end * stepS, 'too few for a burn rate by now')],
            },
          ]
        : []),
    ],
  };
}

export function budgetSpent(profile: Profile, keepS: number): ScenarioFile {
  const stepS = profile.scrapeMs / 1_000;
  const shortest = windowS(windowIn(profile, '5m')) / stepS;
  const labels = { slo: 'orders-availability' };
  const budget = profile.hasSupervisor ? 0.005 : 0.001;
  const window = (requests: number, bad: number): readonly InputSeries[] => {
    const [good, failed] = [(requests - bad) / 10, bad / 10];
    return [
      posts('201', counter([10, good], [2 * shortest, 0])),
      posts('503', counter([10, failed], [2 * shortest, 0])),
    ];
  };
  const at = (10 + 2 * shortest) * stepS;
  const many = 1_000 / budget / 100;
  return {
    name: 'ErrorBudgetSpent',
    alert: 'ErrorBudgetSpent',
    slo: labels.slo,
    stepS,
    scenarios: [
      {
        name: 'nine tenths of the budget',
        series: window(many, many * budget * 0.9),
        expect: [silent(at, 'a tenth is left')],
      },
      {
        name: 'more than the budget',
        series: window(many, many * budget * 1.1),
        expect: [fires(at, 'nothing is left', labels)],
      },
      { name: 'four bad requests of 26', series: window(26, 4), expect: [fires(at, 'few, but enough', labels)] },
      { name: 'two bad requests of 26', series: window(26, 2), expect: [silent(at, 'too few bad ones')] },
      { name: 'all of 15 requests', series: window(15, 15), expect: [silent(at, 'too few requests')] },
      {
        name: 'many good ones after it',
        series: [
          posts(
            '201',
            counter([10, 100], [shortest, 0], [20 + Math.ceil(keepS / stepS) + shortest, 2_000 / budget / 100]),
          ),
          posts('503', counter([10, 1], [shortest + 20 + Math.ceil(keepS / stepS) + shortest, 0])),
        ],
        expect: [
          fires((10 + shortest) * stepS, 'nothing is left', labels),
          silent((30 + Math.ceil(keepS / stepS) + 2 * shortest) * stepS, 'resolved: the share is small again'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}
