/** How pods of the two arms are found in metrics: the label `instance` is the name of the pod. */
export interface Arms {
  /** Regular expressions. */
  readonly canary: string;
  readonly stable: string;
}

/** What is compared, over a time such as `1m`. */
export interface Compared {
  readonly service: string;
  readonly arms: Arms;
  readonly window: string;
}

/**
 * How much larger the canary's share of bad outcomes is, from -1 to 1. No value where an arm has no requests: nothing is known then,
 * and 0 would be a pass. As in the SLOs, a saga that found no payments or no stock is bad although its response is a success.
 */
export function errorExcess({ service, arms, window }: Compared): string {
  const ratio = (pods: string) => {
    const requests = `http_server_request_duration_seconds_count{job="${service}",instance=~"${pods}"`;
    const outcomes = `shop_orders_outcomes_total{instance=~"${pods}",outcome=~"payment_unavailable|stock_unavailable"}`;
    const failed = `(sum(rate(${requests},http_response_status_code=~"5.."}[${window}])) or vector(0))`;
    const bad = service === 'orders' ? `(${failed} + (sum(rate(${outcomes}[${window}])) or vector(0)))` : failed;
    return `${bad} / (sum(rate(${requests}}[${window}])) > 0)`;
  };
  return `${ratio(arms.canary)}\n  - ${ratio(arms.stable)}`;
}

/** How many times as long the canary's percentile is. */
export function slowness({ service, arms, window }: Compared, above: number): string {
  const quantile = (pods: string) => {
    const buckets = `http_server_request_duration_seconds_bucket{job="${service}",instance=~"${pods}"}`;
    return `histogram_quantile(${above}, sum by (le) (rate(${buckets}[${window}])))`;
  };
  return `${quantile(arms.canary)}\n  / ${quantile(arms.stable)}`;
}
