import { type FailpointPlace, failpoints, failpointsOf } from '@shop/kit/failpoint-names.ts';
import { it } from 'vitest';
import { expectGeneratedBlocks } from './expect-generated.ts';

const rows = Object.keys(failpoints).flatMap((service) =>
  [...failpointsOf(service)].map(
    ([name, place]) => `| \`${service}.${name}\` | ${place.description} | ${place.lost} | ${actionsAt(place)} |`,
  ),
);

function actionsAt({ reply, canRespond }: FailpointPlace): string {
  const lost = reply === undefined ? [] : [`loses the ${reply}`];
  return [...lost, ...(canRespond ? ['sends any status'] : [])].join(', ');
}

it('docs/saga.md has every failpoint, and no other', () =>
  expectGeneratedBlocks('docs/saga.md', {
    failpoints: [
      '| failpoint | passed when | lost if the process ends there | `drop-reply`, `respond` |',
      '| --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  }));
