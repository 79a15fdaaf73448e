import { counter, fires, gauge, type ScenarioFile, series, silent } from '../scenario.ts';
import { type Gauge, gaugeFile } from './gauges.ts';
import { delivery, orders, outcome, QUEUE, queue, supervisor } from './inputs.ts';

export function queueNotDraining(keepS: number): ScenarioFile {
  return {
    name: 'QueueNotDraining',
    alert: 'QueueNotDraining',
    stepS: 1,
    scenarios: [
      {
        name: 'shipping settles one message in 7 s, then none, then all',
        series: [
          queue(gauge([2, 0], [45, 5], [keepS + 5, 0])),
          delivery('shipped', counter([7, 0], [1, 1], [6, 0], [1, 1], [6, 0], [1, 1], [22, 0], [keepS + 5, 2])),
          delivery('retried', counter([60, 1])),
        ],
        expect: [
          silent(20, 'slow, but draining'),
          silent(28, 'the last message was settled 6 s ago'),
          fires(34, 'none for more than 10 s'),
          silent(52 + keepS, 'resolved'),
        ],
      },
      {
        name: 'messages come to a queue without a consumer',
        series: [queue(gauge([15, 0], [16, 1]))],
        expect: [silent(22, 'they wait for 7 s'), fires(27, 'they wait for 12 s')],
      },
      {
        name: 'the queue was not seen for 8 s',
        series: [queue(gauge([9, 0], [8, '_'], [5, 5]))],
        expect: [silent(21, 'it is seen for 5 of 10 s')],
      },
      { name: 'no data', series: [], expect: [silent(12, 'nothing is reported')] },
    ],
  };
}

export function shipmentsMissing(keepS: number): readonly ScenarioFile[] {
  const pending = (values = '0x100') => [
    series('shop_outbox_pending', orders, values),
    queue(values.replaceAll(/[1-9]\d*x/g, '0x')),
    queue('0x100', `${QUEUE}.retries`),
  ];
  const steady = { orders: 50, loss: 28, more: 22 };
  return [
    {
      name: 'ShipmentsMissing',
      alert: 'ShipmentsMissing',
      stepS: 5,
      scenarios: [
        {
          name: '10 orders a second; 28 shipments of two minutes are missing, then 50',
          series: [
            outcome('confirmed', counter([90, steady.orders])),
            delivery(
              'shipped',
              counter(
                [40, steady.orders],
                [1, steady.orders - steady.loss],
                [11, steady.orders],
                [1, steady.orders - steady.more],
                [37, steady.orders],
              ),
            ),
            ...pending(),
          ],
          expect: [
            silent(195, 'each confirmed order is shipped'),
            silent(255, 'fewer than 3 and 2.5 % of the orders of two minutes'),
            silent(270, 'more than that, but not for 15 s'),
            fires(280, 'more than that for 15 s'),
            silent(265 + 130 + keepS, 'resolved: the losses are older than two minutes'),
          ],
        },
        {
          name: 'few orders; the fourth and fifth are lost',
          series: [
            outcome('confirmed', counter([2, 2], [18, 0.2])),
            delivery('shipped', counter([2, 1], [8, 0], [10, 0])),
            ...pending(),
          ],
          expect: [silent(50, 'up to three are not enough'), fires(95, 'more than three are')],
        },
        {
          name: 'orders wait in the outbox and in the queue for retries',
          series: [
            outcome('confirmed', counter([20, 2])),
            series('shop_outbox_pending', orders, '0+1x20'),
            queue('0x20'),
            queue('0+1x20', `${QUEUE}.retries`),
          ],
          expect: [silent(95, 'nothing is shipped, and nothing is lost')],
        },
        { name: 'no data', series: [], expect: [silent(30, 'nothing is reported')] },
      ],
    },
    {
      name: 'ShipmentsMissing-stalled',
      alert: 'ShipmentsMissing',
      stepS: 1,
      scenarios: [
        {
          name: 'a consumer holds messages and settles none, then ends without them',
          series: [
            outcome('confirmed', counter([60, 2])),
            ...pending().slice(0, 1),
            queue(gauge([2, 0], [40, 1], [20, 0])),
          ],
          expect: [
            silent(40, 'they are late: QueueNotDraining is about that'),
            fires(60, 'none waits any more, and none was shipped'),
          ],
        },
      ],
    },
  ];
}

export function deadLetters(keepS: number): ScenarioFile {
  const gone: Gauge = {
    alert: 'DeadLetters',
    metric: 'shop_queue_messages',
    labels: { ...supervisor, queue: 'shipping.dead-letters' },
    below: 0,
    above: 1,
  };
  return gaugeFile(gone, 1, keepS);
}

export function deadLettersCounted(keepS: number): ScenarioFile {
  const after = Math.ceil((900 + keepS) / 60) + 2;
  return {
    name: 'DeadLetters',
    alert: 'DeadLetters',
    stepS: 60,
    scenarios: [
      {
        name: 'one message is refused for good',
        series: [
          delivery('dead_lettered', counter([5, 0], [1, 1], [after, 0])),
          delivery('shipped', counter([after, 9])),
        ],
        expect: [
          silent(300, 'all are shipped'),
          fires(420, 'one is not'),
          fires(1080, 'that was 12 minutes ago'),
          silent((6 + after) * 60, 'resolved: that was longer ago'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(120, 'nothing is reported')] },
    ],
  };
}
