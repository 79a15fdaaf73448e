import type { Profile } from '../../cli/src/slo/profiles.ts';
import { counter, fires, type Scenario, type ScenarioFile, series, silent } from '../scenario.ts';
import { orders, shipping } from './inputs.ts';

export function telemetryLost({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const [dropped, recently] = hasSupervisor ? [60, 120] : [600, 900];
  const steps = (seconds: number) => Math.ceil(seconds / stepS);
  const spans = (state: string, values: string) => series('shop_telemetry_spans_total', { ...shipping, state }, values);
  const [shown, gone] = [steps(60), steps(recently + keepS) + 3];
  const away = (shown + steps(recently * 0.75)) * stepS;
  return {
    name: 'TelemetryLost',
    alert: 'TelemetryLost',
    stepS,
    scenarios: [
      {
        name: 'a span is dropped',
        series: [
          spans('dropped', counter([3, 0], [1, 1], [gone + steps(dropped), 0])),
          spans('started', counter([gone + 2 * steps(dropped), 5])),
        ],
        expect: [
          silent(3 * stepS, 'none is dropped'),
          fires(3 * stepS + dropped * 0.75, 'one was dropped', { job: 'shipping' }),
          silent(5 * stepS + dropped + keepS + 2 * stepS, 'resolved'),
        ],
      },
      {
        name: 'a service stops reporting',
        series: [spans('started', `${counter([shown, 5])} stale ${'_'.concat(`x${gone}`)}`)],
        expect: [
          silent(shown * stepS, 'it reports'),
          fires(away, 'it does not', { job: 'shipping' }),
          silent((shown + gone) * stepS, 'after a while that is its state'),
        ],
      },
      {
        name: 'a service ends in order',
        series: [
          spans('started', `${counter([shown, 5])} stale _x${gone}`),
          series('shop_telemetry_closed', shipping, `_x${shown} 1 stale _x${gone}`),
        ],
        expect: [silent(away, 'its last report said so')],
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
