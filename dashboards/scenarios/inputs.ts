import { series } from '../scenario.ts';

export const orders = { instance: 'orders-1', job: 'orders' };

export const shipping = { instance: 'shipping-1', job: 'shipping' };

export const supervisor = { instance: 'supervisor', job: 'shopctl' };

export const QUEUE = 'shipping.order-confirmed';

export const queue = (values: string, name = QUEUE) =>
  series('shop_queue_messages', { ...supervisor, queue: name }, values);

export const outcome = (name: string, values: string) =>
  series('shop_orders_outcomes_total', { ...orders, outcome: name }, values);

export const delivery = (name: string, values: string) =>
  series('shop_shipping_messages_total', { ...shipping, outcome: name }, values);

export const posts = (status: string, values: string) =>
  series(
    'http_server_request_duration_seconds_count',
    { instance: 'gateway-1', job: 'gateway', http_request_method: 'POST', http_response_status_code: status },
    values,
  );
