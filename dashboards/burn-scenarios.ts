import type { Profile } from '../cli/src/slo/profiles.ts';
import { windowIn } from '../cli/src/slo/series.ts';
import { type Burn, budgetOf, type Slo } from '../cli/src/slo/slo.ts';
import { windowS } from '../cli/src/slo/window.ts';
import { counter, fires, type InputSeries, type Phase, type ScenarioFile, series, silent } from './scenario.ts';

/** Steps, and the share that is bad in them. */
interface Burst {
  readonly steps: number;
  readonly share: number;
}

/** Samples in the short window. */
const STEPS_OF_SHORT = 5;

/**
 * The cases of one burn rate. Each condition of the rule is once the only one that does not hold, closely, so that no change
 * of a number, a window or an operator goes unnoticed.
 */
export function burnScenarios(
  slo: Slo,
  alert: string,
  burn: Burn,
  profile: Profile,
  keepFiringS: number,
): ScenarioFile {
  const [longS, shortS] = [windowS(windowIn(profile, burn.long)), windowS(windowIn(profile, burn.short))];
  const stepS = shortS / STEPS_OF_SHORT;
  const [long, short] = [Math.round(longS / stepS), STEPS_OF_SHORT];
  const threshold = burn.threshold * budgetOf(slo, profile.name);
  // Cases are at multiples of the short window: nothing is evaluated between them.
  const wholeShorts = (steps: number) => Math.ceil(steps / short) * short;
  const keep = wholeShorts(Math.ceil(keepFiringS / stepS));
  const at = (steps: number) => steps * stepS;
  const inputs = inputsOf(slo);
  const below = 0.85 * threshold;
  const above = 1.2 * threshold;
  // Prometheus 3 leaves out the sample at the begin of a window: of five steps it sees four.
  const belowInShort = 0.75 * threshold;
  // As short as so much can be bad in it.
  // An outage has to be in the long window for some time after it has ended.
  const [burst, outage] = [below, (threshold < 0.02 ? 6 : 2) * threshold].map((share) => {
    const steps = wholeShorts((share * long) / 0.9);
    return { steps, share: (share * (long + steps)) / (2 * steps) };
  }) as [Burst, Burst];
  const perStep = 10_000;
  const few = 15;
  const enough = 26;
  return {
    name: `${alert}-${burn.name}`,
    alert,
    burn: burn.name,
    stepS,
    scenarios: [
      {
        name: 'a share just above the threshold, and its end',
        // Traffic triples in the end, so that bad and total must be of the same window.
        series: inputs([
          [short - 2, perStep, 0],
          [2, 3 * perStep, (above * (short + 4)) / 6],
          [short + keep, perStep, 0],
        ]),
        expect: [
          fires(at(short), 'both windows are just above the threshold'),
          silent(at(2 * short + keep), 'resolved: nothing is bad any more'),
        ],
      },
      {
        name: 'bursts on a good background',
        // Traffic is greater in the end of each window, so that what is subtracted must be of the same window.
        series: inputs([
          [long, perStep, 0],
          [burst.steps, 2 * perStep, burst.share],
          [outage.steps, 2 * perStep, outage.share],
          // The outage is still in the long window at the end, also where that is three short ones.
          [keep, perStep / 4, below],
          [short - 2, perStep, 0],
          [2, 3 * perStep, (belowInShort * (short + 4)) / 6],
        ]),
        expect: [
          silent(at(long + burst.steps), 'the long window is just below the threshold'),
          fires(at(long + burst.steps + outage.steps), 'both windows are above the threshold'),
          silent(at(long + burst.steps + outage.steps + keep + short), 'the short window is just below the threshold'),
        ],
      },
      {
        name: 'few requests, all bad and all in the short window',
        series: inputs([
          [short, 0, 0],
          [short, few / short, 1],
        ]),
        expect: [silent(at(2 * short), 'too few requests say nothing about a share')],
      },
      {
        name: 'enough requests, and few bad ones, all in the short window',
        series: inputs([
          [long, enough / long, 0],
          [short, enough / long, (2 * long) / (enough * short)],
          [short, enough / long, (2 * long) / (enough * short)],
        ]),
        expect: [
          silent(at(long + short), 'two bad requests are not enough'),
          fires(at(long + 2 * short), 'four bad requests are'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(at(short), 'nothing is reported')] },
    ],
  };
}

/** Steps, requests in each, and which share of them is bad. */
type Traffic = readonly [steps: number, requests: number, badShare: number];
type Inputs = (traffic: readonly Traffic[]) => readonly InputSeries[];

/** The series that an SLO reads. Throws for one that it has no scenario of: a new SLO needs its inputs here. */
function inputsOf({ name }: Slo): Inputs {
  const known: Readonly<Record<string, Inputs>> = {
    'orders-availability': availabilityInputs,
    'orders-latency': latencyInputs,
    'shipments-freshness': freshnessInputs,
  };
  const inputs = known[name];
  if (inputs === undefined) throw new Error(`dashboards/burn-scenarios.ts has no series for the SLO ${name}`);
  return inputs;
}

const part = (traffic: readonly Traffic[], of: (requests: number, badShare: number) => number) =>
  counter(...traffic.map(([steps, requests, badShare]): Phase => [steps, of(requests, badShare)]));

const post = { instance: 'gateway-1', job: 'gateway', http_request_method: 'POST', http_route: '/api/orders/{**rest}' };
const COUNT = 'http_server_request_duration_seconds_count';
const BUCKET = 'http_server_request_duration_seconds_bucket';

/** Half of what is bad is a 503, the other half a cancelled order. What is the client's, or business, is not counted. */
const availabilityInputs: Inputs = (traffic) => {
  const orders = { instance: 'orders-1', job: 'orders' };
  const half = part(traffic, (requests, bad) => (requests * bad) / 2);
  return [
    series(
      COUNT,
      { ...post, http_response_status_code: '201' },
      part(traffic, (requests, bad) => requests * (1 - bad)),
    ),
    series(COUNT, { ...post, http_response_status_code: '200' }, half),
    series(COUNT, { ...post, http_response_status_code: '503' }, half),
    series(
      COUNT,
      { ...post, http_response_status_code: '422' },
      part(traffic, (requests) => requests * 3),
    ),
    series('shop_orders_outcomes_total', { ...orders, outcome: 'payment_unavailable' }, half),
    series(
      'shop_orders_outcomes_total',
      { ...orders, outcome: 'declined' },
      part(traffic, (requests) => requests),
    ),
  ];
};

const latencyInputs: Inputs = (traffic) => {
  const status = { ...post, http_response_status_code: '201' };
  const all = part(traffic, (requests) => requests);
  return [
    series(COUNT, status, all),
    series(
      BUCKET,
      { ...status, le: '1' },
      part(traffic, (requests, bad) => requests * (1 - bad)),
    ),
    series(BUCKET, { ...status, le: '10' }, all),
  ];
};

const freshnessInputs: Inputs = (traffic) => {
  const shipping = { instance: 'shipping-1', job: 'shipping' };
  const all = part(traffic, (requests) => requests);
  return [
    series('shop_shipping_delay_seconds_count', shipping, all),
    series(
      'shop_shipping_delay_seconds_bucket',
      { ...shipping, le: '15' },
      part(traffic, (requests, bad) => requests * (1 - bad)),
    ),
    series('shop_shipping_delay_seconds_bucket', { ...shipping, le: '60' }, all),
  ];
};
