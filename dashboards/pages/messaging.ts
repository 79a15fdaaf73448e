import type { Page } from '../model.ts';
import { lines, number, quantiles } from './queries.ts';

/** From the outbox through the broker to the shipment. */
export const messagingPage: Page = {
  id: 'messaging',
  title: 'Messaging',
  description: 'Outbox, publisher, queues, consumer and shipments.',
  variables: [],
  rows: [
    {
      title: 'Outbox and publisher',
      panels: [
        lines('Events in the outbox', { expr: 'max(shop_outbox_pending)', legend: 'unpublished' }, { unit: 'count' }),
        lines('Age of the oldest', { expr: 'max(shop_outbox_oldest_age_seconds)', legend: 'oldest' }, { unit: 's' }),
        lines('Published events', {
          expr: 'sum by (messaging_destination_name) (rate(messaging_client_operation_duration_seconds_count[$window]))',
          legend: '{{messaging_destination_name}}',
        }),
        lines('Durations up to the confirm', quantiles('messaging_client_operation_duration_seconds'), { unit: 's' }),
      ],
    },
    {
      title: 'Queues',
      panels: [
        lines(
          'Messages that wait',
          { expr: 'max by (queue) (shop_queue_messages)', legend: '{{queue}}' },
          { unit: 'count' },
        ),
        lines('Consumers', { expr: 'max by (queue) (shop_queue_consumers)', legend: '{{queue}}' }, { unit: 'count' }),
        number('Dead letters', 'max(shop_queue_messages{queue="shipping.dead-letters"})'),
        lines(
          'Missing shipments',
          [
            { expr: 'max(shop:shipments_missing)', legend: 'neither shipped nor waiting' },
            { expr: 'max(shop:messages_held)', legend: 'consumers can hold' },
          ],
          { unit: 'count', description: 'Above both 3 and what consumers can hold, orders are lost.' },
        ),
        number('Queue stalled', 'max(shop:queue_stalled)', {
          description: '1: messages wait, and none has been settled for 10 s.',
        }),
      ],
    },
    {
      title: 'Consumer and shipments',
      panels: [
        lines('Deliveries by outcome', {
          expr: 'sum by (outcome) (rate(shop_shipping_messages_total[$window]))',
          legend: '{{outcome}}',
        }),
        lines('Events by type', {
          expr: 'sum by (type) (rate(shop_shipping_events_total[$window]))',
          legend: '{{type}}',
        }),
        lines('Durations up to the acknowledgement', quantiles('messaging_process_duration_seconds'), { unit: 's' }),
        lines('From the confirmation to the shipment', quantiles('shop_shipping_delay_seconds'), { unit: 's' }),
        lines('Confirmed and shipped', [
          { expr: 'sum(rate(shop_orders_outcomes_total{outcome="confirmed"}[$window]))', legend: 'confirmed' },
          { expr: 'sum(rate(shop_shipping_messages_total{outcome="shipped"}[$window]))', legend: 'shipped' },
        ]),
      ],
    },
  ],
};
