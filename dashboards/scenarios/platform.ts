import type { Profile } from '../../cli/src/slo/profiles.ts';
import { away, counter, fires, type Scenario, type ScenarioFile, series, silent } from '../scenario.ts';
import { orders, shipping } from './inputs.ts';

export function telemetryLost({ hasSupervisor, scrapeMs }: Profile, keepS: number): ScenarioFile {
  const stepS = scrapeMs / 1_000;
  const [dropped, missing, recently] = hasSupervisor ? [60, 15, 120] : [600, 60, 900];
  const steps = (seconds: number) => Math.ceil(seconds / stepS);
  const spans = (state: string, values: string) => series('shop_telemetry_spans_total', { ...shipping, state }, values);
  const [shown, gone] = [15, steps(recently + keepS) + 3];
  const all = shown + gone + 1;
  const scrapes = (values = `1x${all}`) => series('up', { instance: 'supervisor', job: 'shop' }, values);
  const end = shown * stepS;
  const leaves = spans('started', `${counter([shown, 5])} ${away(gone)}`);
  const missed = (steps: number, after: number) =>
    spans('started', `${counter([shown, 5])} ${away(steps)} ${5 * shown}+5x${after}`);
  return {
    name: 'TelemetryLost',
    alert: 'TelemetryLost',
    stepS,
    scenarios: [
      {
        name: 'some spans are dropped',
        series: [
          // 20 in each second; the first to go are three, then thirty.
          spans('dropped', counter([10, 0], [1, 3], [steps(dropped), 0], [1, 30], [steps(dropped) + gone, 0])),
          spans('started', counter([12 + gone + 2 * steps(dropped), 20])),
        ],
        expect: [
          silent(10 * stepS, 'none is dropped'),
          silent(13 * stepS + dropped * 0.75, 'fewer than one in a hundred'),
          fires(13 * stepS + dropped * 1.75, 'more than that', { job: 'shipping' }),
          silent(15 * stepS + 2 * dropped + keepS, 'resolved'),
        ],
      },
      {
        name: 'a service stops reporting',
        series: [leaves, scrapes()],
        expect: [
          silent(end, 'it reports'),
          silent(end + missing * 0.8, 'it has been missing for a moment'),
          fires(end + missing * 1.4, 'it does not', { job: 'shipping' }),
          fires(end + recently * 0.75, 'it still does not', { job: 'shipping' }),
          silent(end + gone * stepS, 'resolved: after a while that is its state'),
        ],
      },
      {
        name: 'one scrape is missed, as on a busy machine',
        series: [missed(1, gone), scrapes(`1x${shown} 0 1x${gone}`)],
        expect: [silent(end + stepS, 'it is missing in one'), silent(end + missing * 1.4, 'it is there again')],
      },
      ...(hasSupervisor
        ? [
            {
              name: 'nothing was scraped for a minute, as after a pause of the machine',
              series: [missed(60, 10), scrapes(`1x${shown} _x60 1x10`)],
              expect: [silent(end + 40, 'nothing is known'), silent(end + 62, 'it is there again')],
            },
            {
              name: 'a service stops reporting to a machine that misses two scrapes of three',
              series: [leaves, scrapes(`1x${shown} ${'0 0 1 '.repeat(Math.ceil(gone / 3)).trim()}`)],
              expect: [fires(end + 45, 'it was in none of five scrapes', { job: 'shipping' })],
            },
          ]
        : []),
      {
        name: 'a service ends in order',
        series: [leaves, scrapes(), series('shop_telemetry_closed', shipping, `_x${shown} 1 ${away(gone)}`)],
        expect: [
          silent(end + missing * 1.4, 'its last report said so'),
          silent(end + recently * 0.75, 'its last report said so'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

export function instanceRestarting({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const windowSeconds = hasSupervisor ? 60 : 300;
  const steps = Math.ceil((windowSeconds + keepS) / stepS) + 3;
  return {
    name: 'InstanceRestarting',
    alert: 'InstanceRestarting',
    stepS,
    scenarios: [
      {
        name: 'a counter begins again',
        series: [
          series('shop_telemetry_spans_total', { ...orders, state: 'started' }, `${counter([10, 5])} 1+5x${steps}`),
          series('shop_telemetry_spans_total', { ...shipping, state: 'started' }, `0+5x${10 + steps}`),
        ],
        expect: [
          silent(10 * stepS, 'it only rises'),
          fires((11 + Math.floor((windowSeconds * 0.95) / stepS)) * stepS, 'it was reset', orders),
          silent((11 + steps) * stepS, 'resolved: that is long ago'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

export function deployInProgress({ scrapeMs }: Profile, keepS: number): ScenarioFile {
  const stepS = scrapeMs / 1_000;
  const after = Math.ceil(keepS / stepS) + 3;
  const info = (instance: string, labels: Readonly<Record<string, string>>, values: string) =>
    series(
      'target_info',
      { instance, job: 'orders', service_version: '0.2.0', shop_track: 'stable', ...labels },
      values,
    );
  const second = `_x5 1x4 stale _x${after}`;
  const changed = (name: string, labels: Readonly<Record<string, string>>): Scenario => ({
    name,
    series: [
      info('orders-1', {}, `1x${10 + after}`),
      info('orders-2', {}, `1x${10 + after}`),
      info('orders-3', labels, second),
    ],
    expect: [
      silent(3 * stepS, 'all are the same'),
      fires(8 * stepS, 'one differs', { job: 'orders' }),
      silent((9 + after) * stepS, 'resolved: all are the same again'),
    ],
  });
  return {
    name: 'DeployInProgress',
    alert: 'DeployInProgress',
    stepS,
    scenarios: [
      changed('another version', { service_version: '0.3.0' }),
      changed('another track', { shop_track: 'canary' }),
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

export function watchdog({ scrapeMs }: Profile): ScenarioFile {
  const stepS = scrapeMs / 1_000;
  return {
    name: 'Watchdog',
    alert: 'Watchdog',
    stepS,
    scenarios: [
      { name: 'no data', series: [], expect: [fires(0, 'it always does'), fires(3 * stepS, 'it always does')] },
    ],
  };
}
