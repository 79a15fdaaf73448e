import { randomBytes } from 'node:crypto';
import { SHADOW_OUTCOMES_PATH, type ShadowOutcome, type ShippedRows } from '@shop/kit/shadow.ts';
import { openSnapshot } from '../../audit/snapshot.ts';
import { messageOf } from '../../errors.ts';
import { unobserved } from '../trip.ts';
import type { ShadowSource } from './watch-shadow.ts';

const READ_LIMIT_MS = 5_000;

const SERVED = `SELECT message_id::text AS id, json_build_object(
    'inbox', json_build_array(json_build_object('type', type, 'orderId', order_id)),
    'shipments', (SELECT coalesce(json_agg("Lines"), '[]') FROM "Shipments" WHERE "OrderId" = order_id),
    'parcels', (SELECT coalesce(json_agg(lines), '[]') FROM parcels WHERE parcels.order_id = inbox.order_id)
  ) AS rows
  FROM inbox WHERE message_id = ANY ($1::uuid[])`;

/** `url`: of the instance in the shadow. `databaseUrl`: of the operator at the database of shipping; it holds a password. */
export function createShadowSource({ url, databaseUrl }: { url: string; databaseUrl: string }): ShadowSource {
  return {
    async outcomesAfter(number) {
      const response = await fetch(`${url}${SHADOW_OUTCOMES_PATH}?after=${number}`, {
        // Not sampled: it belongs to no order.
        headers: { traceparent: `00-${hex(16)}-${hex(8)}-00` },
        signal: AbortSignal.timeout(READ_LIMIT_MS),
      }).catch((error: unknown) => {
        throw unobserved(`what the release would do cannot be read: ${messageOf(error)}`);
      });
      if (response.status === 404) throw unobserved('the release cannot run in the shadow: it is older than that');
      if (!response.ok) throw unobserved(`what the release would do cannot be read: ${response.status}`);
      return ((await response.json()) as { outcomes: readonly ShadowOutcome[] }).outcomes;
    },
    async served(messageIds) {
      if (messageIds.length === 0) return new Map();
      try {
        await using database = await openSnapshot(databaseUrl);
        const { rows } = await database.query<{ id: string; rows: ShippedRows }>(SERVED, [messageIds]);
        return new Map(rows.map(({ id, rows: written }) => [id, written]));
      } catch (error) {
        throw unobserved(`the database of shipping cannot be read: ${messageOf(error)}`);
      }
    },
  };
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
