import { it } from 'vitest';
import { publishedExpectedSchema } from '../../cli/src/alert-matrix/expected-schema.ts';
import { expectGenerated } from './expect-generated.ts';

it('dashboards/expected.schema.json is the schema of the expectations', async () => {
  await expectGenerated('dashboards/expected.schema.json', publishedExpectedSchema());
});
