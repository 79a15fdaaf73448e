/**
 * Chance of `atLeast` events or more in `trials`, each with `probability`. Summed from the larger side of the terms, so that it is
 * exact where it is small.
 */
export function upperTail(trials: number, atLeast: number, probability: number): number {
  if (atLeast <= 0) return 1;
  if (atLeast > trials || probability <= 0) return 0;
  if (probability >= 1) return 1;
  if (atLeast <= trials * probability) return 1 - lowerSum(trials, atLeast - 1, probability);
  return Math.min(1, upperSum(trials, atLeast, probability));
}

/** Chance of `atMost` events or fewer. */
export function lowerTail(trials: number, atMost: number, probability: number): number {
  return 1 - upperTail(trials, atMost + 1, probability);
}

function upperSum(trials: number, from: number, probability: number): number {
  let term = Math.exp(logMass(trials, from, probability));
  let sum = 0;
  for (let events = from; events <= trials && term > sum * Number.EPSILON; events += 1) {
    sum += term;
    term *= ((trials - events) / (events + 1)) * (probability / (1 - probability));
  }
  return sum;
}

function lowerSum(trials: number, to: number, probability: number): number {
  let term = Math.exp(logMass(trials, to, probability));
  let sum = 0;
  for (let events = to; events >= 0 && term > sum * Number.EPSILON; events -= 1) {
    sum += term;
    term *= (events / (trials - events + 1)) * ((1 - probability) / probability);
  }
  return Math.min(1, sum);
}

function logMass(trials: number, events: number, probability: number): number {
  const ways = logFactorial(trials) - logFactorial(events) - logFactorial(trials - events);
  return ways + events * Math.log(probability) + (trials - events) * Math.log1p(-probability);
}

/** Stirling's series; below 10 the product itself. */
function logFactorial(n: number): number {
  if (n < 10) {
    let product = 1;
    for (let factor = 2; factor <= n; factor += 1) product *= factor;
    return Math.log(product);
  }
  const x = n + 1;
  return (
    (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5)
  );
}

/** The largest rate that `events` in `trials` do not refute at this confidence (Clopper and Pearson's bound, one-sided). */
export function upperBound(trials: number, events: number, confidence: number): number {
  if (events >= trials) return 1;
  let [low, high] = [events / trials, 1];
  for (let halving = 0; halving < 60; halving += 1) {
    const middle = (low + high) / 2;
    if (lowerTail(trials, events, middle) > 1 - confidence) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * The least number of requests, `bad` of them bad, that show a rate of less than `rate`, by the exact one-sided bound. Without a bad
 * one at 95 %: 59 for 5 %, 149 for 2 %, 299 for 1 %, 598 for 0.5 %.
 */
export function requestsToShow(rate: number, { bad = 0, confidence = 0.95 } = {}): number {
  if (!(rate > 0 && rate < 1)) throw new RangeError(`expected a rate above 0 and below 1, got ${rate}`);
  const shows = (requests: number) => lowerTail(requests, bad, rate) <= 1 - confidence;
  let high = bad + 1;
  while (!shows(high)) high *= 2;
  let low = bad;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (shows(middle)) high = middle;
    else low = middle;
  }
  return high;
}
