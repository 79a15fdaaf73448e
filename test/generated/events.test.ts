import { eventSchemas } from '@shop/kit/event-schemas.ts';
import { it } from 'vitest';
import { expectGenerated } from './expect-generated.ts';

it.each(Object.entries(eventSchemas))('the schema of the event %s is that of the code', async (type, schema) => {
  await expectGenerated(`contracts/events/${type}.json`, `${JSON.stringify(schema, null, 2)}\n`);
});
