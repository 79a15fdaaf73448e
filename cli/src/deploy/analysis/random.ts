/** Numbers in [0, 1). */
export type Random = () => number;

/** Of more events, the normal distribution is off by less than one in a thousand, and costs the same for each number. */
const MANY = 2_000;

/** How many of `trials` come true, each with this chance. The time is that of the events, so that rare ones are cheap. */
export function drawBinomial(random: Random, trials: number, chance: number): number {
  if (chance <= 0 || trials <= 0) return 0;
  if (chance >= 1) return trials;
  if (chance > 0.5) return trials - drawBinomial(random, trials, 1 - chance);
  const mean = trials * chance;
  if (mean > MANY) return Math.min(trials, drawNormal(random, mean, mean * (1 - chance)));
  // The number of failures before each success is geometric.
  const scale = 1 / Math.log1p(-chance);
  let at = -1;
  for (let events = 0; ; events += 1) {
    at += 1 + Math.floor(Math.log(1 - random()) * scale);
    if (at >= trials) return events;
  }
}

/** How many events come in a time in which `mean` are expected. Source: D. Knuth, TAOCP 2, 3.4.1; by parts, since e^-mean underflows. */
export function drawPoisson(random: Random, mean: number): number {
  if (mean > MANY) return drawNormal(random, mean, mean);
  let events = 0;
  for (let left = mean; left > 0; left -= 50) {
    const floor = Math.exp(-Math.min(50, left));
    for (let product = random(); product > floor; product *= random()) events += 1;
  }
  return events;
}

/** A count with this mean and variance. Source: G. Box, M. Muller, "A Note on the Generation of Random Normal Deviates", 1958. */
function drawNormal(random: Random, mean: number, variance: number): number {
  const deviate = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(0, Math.round(mean + deviate * Math.sqrt(variance)));
}
