import { type K6Options, k6Options, type Thresholds } from './k6-options.ts';
import { type ScenarioName, type Settings, scenarios } from './scenarios.ts';

/**
 * Settings of a run, from the environment. SHOP_URL (base URL of the gateway), SHOP_RUN (begins every Idempotency-Key),
 * SHOP_SEED, SHOP_RATE, SHOP_DURATION_S, SHOP_VUS, SHOP_FAULT (1: with phases for a fault), SHOP_SUMMARY (file for the
 * summary). All have defaults, so that `k6 run scenarios/steady.ts` works without settings.
 */
export const shopUrl = __ENV.SHOP_URL ?? 'http://127.0.0.1:8080';
export const runId = __ENV.SHOP_RUN ?? `load-${Date.now().toString(36)}`;
export const seed = numberFrom('SHOP_SEED', 1);
export const summaryFile = __ENV.SHOP_SUMMARY;

/**
 * The options of k6 for this scenario; `alsoExpected` are thresholds of its custom metrics, for phases whose responses must
 * be as expected. Throws when a setting is not a number.
 */
export function optionsOf(name: ScenarioName, alsoExpected: Thresholds = {}): K6Options {
  const scenario = scenarios[name];
  const settings: Settings = {
    rate: numberFrom('SHOP_RATE', scenario.defaults.rate),
    durationS: numberFrom('SHOP_DURATION_S', scenario.defaults.durationS),
    vus: numberFrom('SHOP_VUS', scenario.defaults.vus),
    hasFault: __ENV.SHOP_FAULT === '1',
  };
  return k6Options(scenario.phases(settings), scenario.requests, alsoExpected);
}

function numberFrom(variable: string, byDefault: number): number {
  const text = __ENV[variable];
  const value = text === undefined ? byDefault : Number(text);
  if (!Number.isFinite(value)) throw new Error(`${variable} must be a number, got "${text}"`);
  return value;
}
