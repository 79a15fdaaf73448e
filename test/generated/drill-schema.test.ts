import { it } from 'vitest';
import { publishedSchema } from '../../cli/src/drills/format/published.ts';
import { expectGenerated } from './expect-generated.ts';

it('drills/schema.json is what the schema of scenarios says', () =>
  expectGenerated('drills/schema.json', publishedSchema()));
