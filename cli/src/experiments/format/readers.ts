import { signedDurationMs } from '../../shared/duration.ts';
import { expected, type Reading } from '../../yaml/expected.ts';
import type { Path } from '../../yaml/problem.ts';
import { got } from '../../yaml/problem.ts';
import { type ReadContext, type Reader, report } from '../../yaml/read.ts';
import type { Budgets } from './budgets.ts';
import { ExpressionError, evaluate } from './expression.ts';
import { readFault } from './faults.ts';

const TEXTS = ['duration', 'signed duration', 'number', 'bound', 'rate'] as const satisfies readonly Reading[];

/** How an experiment's values are read whose form alone does not say what they mean. */
export function readersWith(budgets: Budgets): Readonly<Record<Reading, Reader>> {
  const texts = TEXTS.map((reading): [Reading, Reader] => [
    reading,
    (value, path, context) => readText(reading, value, path, { context, budgets }),
  ]);
  return { fault: readFault, ...(Object.fromEntries(texts) as Record<(typeof TEXTS)[number], Reader>) };
}

function readText(
  reading: (typeof TEXTS)[number],
  value: unknown,
  path: Path,
  { context, budgets }: { readonly context: ReadContext; readonly budgets: Budgets },
): unknown {
  if (typeof value === 'number' && (reading === 'number' || reading === 'bound')) return value;
  const wanted = expected({ reads: reading });
  if (typeof value === 'number') return report(context, path, `expected ${wanted}, got ${value} without a unit`);
  if (typeof value !== 'string') return report(context, path, `expected ${wanted}, got ${got(value)}`);
  if (reading === 'rate' || reading === 'signed duration') {
    const number = reading === 'rate' ? perSecond(value) : signedDurationMs(value);
    return number ?? report(context, path, `expected ${wanted}, got ${got(value)}`);
  }
  try {
    const { value: number, unit } = evaluate(value, budgets);
    if (reading === 'number' && unit === 'ms') {
      return report(context, path, `expected ${wanted}, got the duration ${got(value)}`);
    }
    if (reading === 'duration' && unit === 'number') {
      return report(context, path, `expected ${wanted}, got ${got(value)} without a unit`);
    }
    if (reading === 'duration' && number < 0) return report(context, path, `${got(value)} is below zero`);
    return number;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return report(context, path, `expected ${wanted}: ${error.message}`);
  }
}

/** `20/s`, `90/m`; undefined when it is none, or nothing. */
function perSecond(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\/(s|m)$/.exec(text);
  const number = match ? Number(match[1]) / (match[2] === 's' ? 1 : 60) : 0;
  return number > 0 ? number : undefined;
}
