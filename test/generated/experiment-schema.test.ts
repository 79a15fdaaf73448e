import { it } from 'vitest';
import { publishedSchema } from '../../cli/src/experiments/format/published.ts';
import { expectGenerated } from './expect-generated.ts';

it('chaos/schema.json is what the schemas of the format say', () =>
  expectGenerated('chaos/schema.json', publishedSchema()));
