import type { Profile } from '../../cli/src/slo/profiles.ts';
import { away, counter, fires, type Scenario, type ScenarioFile, series, silent } from '../scenario.ts';
import { orders, shipping } from './inputs.ts';

const spans = (state: string, values: string) => series('shop_telemetry_spans_total', { ...shipping, state }, values);

export function spansDropped({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const [stepS, windowSeconds] = hasSupervisor ? [5, 60] : [60, 600];
  const [window, late] = [windowSeconds / stepS, Math.ceil((windowSeconds + keepS) / stepS) + 3];
  return {
    name: 'TelemetryLost-dropped',
    alert: 'TelemetryLost',
    stepS,
    scenarios: [
      {
        name: 'three of four hundred spans are dropped, then four of three hundred',
        series: [
          spans('started', counter([3 * window + 3 + late, 20])),
          spans(
            'dropped',
            counter(
              [2 * window, 0],
              [1, window * 20 * (3 / 400)],
              [window + 1, 0],
              [1, window * 20 * (4 / 300)],
              [late, 0],
            ),
          ),
        ],
        expect: [
          silent(2 * window * stepS, 'none is dropped'),
          silent((2.75 * window + 1) * stepS, 'fewer than one in a hundred'),
          fires((3.75 * window + 3) * stepS, 'more than that', { job: 'shipping' }),
          silent((3 * window + 3 + late) * stepS, 'resolved'),
        ],
      },
    ],
  };
}

export function telemetryLost({ hasSupervisor, scrapeMs }: Profile, keepS: number): ScenarioFile {
  const stepS = scrapeMs / 1_000;
  const [missing, recently] = hasSupervisor ? [15, 120] : [60, 900];
  const steps = (seconds: number) => Math.ceil(seconds / stepS);
  const [shown, gone] = [15, steps(recently + keepS) + 3];
  const long = steps(recently) + 5;
  const all = shown + gone + 1;
  const scrapes = (values = `1x${all}`) => series('up', { instance: 'supervisor', job: 'shop' }, values);
  const end = shown * stepS;
  const leaves = spans('started', `${counter([shown, 5])} ${away(gone)}`);
  return {
    name: 'TelemetryLost',
    alert: 'TelemetryLost',
    stepS,
    scenarios: [
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
        series: [
          spans('started', `${counter([shown, 5])} ${away(1)} ${5 * shown}+5x${gone}`),
          scrapes(`1x${shown} 0 1x${gone}`),
        ],
        expect: [silent(end + stepS, 'it is missing in one'), silent(end + missing * 1.4, 'it is there again')],
      },
      ...(hasSupervisor
        ? [
            {
              name: 'nothing was scraped for 20 s, as after a pause of the machine, and then not the service',
              series: [leaves, scrapes(`1x${shown} _x20 1x10`)],
              expect: [
                silent(end + 18, 'nothing is known'),
                silent(end + 24, 'it was in none of four scrapes'),
                fires(end + 28, 'it was in none of five', { job: 'shipping' }),
              ],
            },
            {
              name: 'the receiver is unavailable, so that nothing can be scraped',
              series: [
                spans('started', `${counter([shown, 5])} ${away(61)} ${5 * shown}+5x${keepS + 10}`),
                scrapes(`1x${shown} 0x60 1x${keepS + 10}`),
              ],
              expect: [
                silent(end + 13, 'one of the last scrapes was a success'),
                fires(end + 20, 'none was'),
                fires(end + 58, 'none was, for a minute'),
                silent(end + 61 + keepS + 5, 'it is available again'),
              ],
            },
            {
              name: 'the first scrapes after a pause of the machine fail',
              series: [leaves, scrapes(`1x${shown} _x20 0x4 1x10`)],
              expect: [silent(end + 25, 'none of five was a success, which are few')],
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
      {
        name: 'a service that ended in order begins again, and stops reporting after some time',
        series: [
          spans('started', `${counter([long, 5])} ${away(steps(missing) * 2)}`),
          series('shop_telemetry_closed', shipping, `1 ${away(1)}`),
          scrapes(`1x${long + 2 * steps(missing)}`),
        ],
        expect: [fires(long * stepS + missing * 1.4, 'its last report did not say so', { job: 'shipping' })],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

export function instanceRestarting({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const windowSeconds = hasSupervisor ? 60 : 300;
  const steps = Math.ceil((windowSeconds + keepS) / stepS) + 3;
  const [before, shown] = [10, Math.floor((windowSeconds * 0.95) / stepS)];
  const process = (began: string, values: string, labels = {}) =>
    series('target_info', { ...orders, process_creation_time: began, ...labels }, values);
  const [first, second] = ['2026-11-24T09:00:00.000Z', '2026-11-24T09:30:00.000Z'];
  return {
    name: 'InstanceRestarting',
    alert: 'InstanceRestarting',
    stepS,
    scenarios: [
      {
        name: 'a process begins again, and its counts go on above those of the one before, as after a backlog',
        series: [
          process(first, `1x${before} ${away(steps)}`),
          process(second, `_x${before + 1} 1x${steps}`),
          series(
            'shop_telemetry_spans_total',
            { ...orders, state: 'started' },
            `${counter([before, 5])} 80+5x${steps}`,
          ),
          series('target_info', { ...shipping, process_creation_time: first }, `1x${before + steps + 1}`),
        ],
        expect: [
          silent(before * stepS, 'there is one process of each instance'),
          fires((before + 1 + shown) * stepS, 'there was another one', orders),
          silent((before + 1 + steps) * stepS, 'resolved: that is long ago'),
        ],
      },
      {
        name: 'a process is given another track',
        series: [
          process(first, `1x${before} ${away(steps)}`, { shop_track: 'canary' }),
          process(first, `_x${before + 1} 1x${steps}`, { shop_track: 'stable' }),
        ],
        expect: [silent((before + 1 + shown) * stepS, 'it is the same process')],
      },
      {
        name: 'two instances begin one after the other',
        series: [
          process(first, `1x${before}`),
          series(
            'target_info',
            { ...orders, instance: 'orders-2', process_creation_time: second },
            `_x5 1x${before - 5}`,
          ),
        ],
        expect: [silent(before * stepS, 'each has one process')],
      },
      {
        name: 'what says no time of its begin reports a second time',
        series: [
          series('target_info', { ...orders, process_pid: '7' }, `1x${before}`),
          process(first, `_x5 1x${before - 5}`),
        ],
        expect: [silent(before * stepS, 'nothing is known about it')],
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
