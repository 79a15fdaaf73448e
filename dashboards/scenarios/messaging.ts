import { counter, fires, gauge, type ScenarioFile, series, silent } from '../scenario.ts';
import { type Gauge, gaugeFile } from './gauges.ts';
import { delivery, orders, outcome, QUEUE, queue, supervisor } from './inputs.ts';

/** The queue of shipping with its consumers, and what waits before and beside it. */
const surroundings = (
  steps: number,
  { waiting = `0x${steps}`, retries = `0x${steps}`, outbox = `0x${steps}`, consumers = `1x${steps}` } = {},
) => [
  series('shop_outbox_pending', orders, outbox),
  queue(waiting),
  queue(retries, `${QUEUE}.retries`),
  series('shop_queue_consumers', { ...supervisor, queue: QUEUE }, consumers),
];

export function queueNotDraining(keepS: number): ScenarioFile {
  const unseen = gauge([30, 0], [15, '_'], [26, 0]);
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
        series: [queue(gauge([6, 5], [8, '_'], [16, 5]))],
        expect: [silent(19, 'it is seen for 6 of 10 s'), fires(24, 'it is seen again')],
      },
      {
        name: 'a consumer holds messages, then ships them',
        series: [
          ...surroundings(100),
          outcome('confirmed', counter([100, 1])),
          delivery('shipped', counter([30, 1], [40, 0], [1, 41], [29, 1])),
          delivery('retried', counter([30, 0], [40, 2], [30, 0])),
        ],
        expect: [
          silent(28, 'each is shipped'),
          silent(47, 'the last one was shipped 17 s ago'),
          fires(52, 'none was shipped for more than 20 s'),
          silent(74 + keepS, 'resolved'),
        ],
      },
      {
        name: 'five orders come to a consumer that holds them, after some time without orders',
        series: [
          ...surroundings(70),
          outcome('confirmed', counter([40, 0], [3, 1], [7, 0], [2, 1], [20, 0])),
          delivery('shipped', counter([70, 0])),
        ],
        expect: [
          silent(38, 'there are no orders'),
          silent(49, 'it holds three'),
          silent(59, 'it has held five for less than 10 s'),
          fires(65, 'it has held five for longer'),
        ],
      },
      {
        name: 'orders end for two minutes, and the next ones are held',
        series: [
          ...surroundings(235),
          outcome('confirmed', counter([30, 2], [130, 0], [5, 1], [70, 0])),
          delivery('shipped', counter([30, 2], [205, 0])),
        ],
        expect: [
          silent(100, 'all are shipped'),
          silent(158, 'all were shipped, and that was long ago'),
          fires(188, 'five are not'),
          fires(232, 'they still are not'),
        ],
      },
      {
        name: 'a load ends, and counts of orders were two seconds ahead',
        series: [
          ...surroundings(60),
          outcome('confirmed', counter([20, 10], [40, 0])),
          delivery('shipped', counter([2, 0], [17, 10], [41, 0])),
        ],
        expect: [
          silent(15, 'each is shipped'),
          silent(42, 'none is settled any more'),
          silent(58, 'nor is one missing'),
        ],
      },
      {
        name: 'the queue was not seen for 15 s, and a consumer holds messages',
        series: [
          ...surroundings(70, { waiting: unseen, retries: unseen }),
          outcome('confirmed', counter([10, 1], [60, 0])),
          delivery('shipped', counter([70, 0])),
        ],
        expect: [silent(57, 'it is seen for 13 of 20 s'), fires(63, 'it is seen for longer')],
      },
      {
        name: 'events wait in the outbox, and in the queue for retries',
        series: [
          ...surroundings(60, { outbox: '0+1x60', retries: '0+1x60' }),
          outcome('confirmed', counter([60, 2])),
          delivery('shipped', counter([60, 0])),
        ],
        expect: [silent(55, 'OutboxStalled is about that')],
      },
      { name: 'no data', series: [], expect: [silent(40, 'nothing is reported')] },
    ],
  };
}

export function shipmentsMissing(keepS: number): readonly ScenarioFile[] {
  return [shipmentsLost(keepS), shipmentsHeld, loadsThatChange];
}

function shipmentsLost(keepS: number): ScenarioFile {
  const steady = { orders: 50, loss: 28, more: 22 };
  return {
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
          ...surroundings(100),
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
        name: 'few orders; three are lost, then two more',
        series: [
          outcome('confirmed', counter([36, 1])),
          delivery('shipped', counter([5, 1], [3, 0], [8, 1], [2, 0], [18, 1])),
          ...surroundings(40),
        ],
        expect: [silent(78, 'up to three are not enough'), fires(120, 'more than three are')],
      },
      {
        name: 'orders wait in the outbox and in the queue for retries',
        series: [outcome('confirmed', counter([20, 2])), ...surroundings(20, { outbox: '0+1x20', retries: '0+1x20' })],
        expect: [silent(95, 'nothing is shipped, and nothing is lost')],
      },
      { name: 'no data', series: [], expect: [silent(30, 'nothing is reported')] },
    ],
  };
}

/** Counts of two processes are not of the same moment. The higher the rate, the more orders are between them. */
const loadsThatChange: ScenarioFile = {
  name: 'ShipmentsMissing-loads',
  alert: 'ShipmentsMissing',
  stepS: 1,
  scenarios: [
    {
      name: 'a load begins; counts of shipping are two seconds behind, then some shipments are lost',
      series: [
        outcome('confirmed', counter([30, 0], [70, 20])),
        delivery('shipped', counter([32, 0], [31, 20], [2, 5], [35, 20])),
        ...surroundings(100),
      ],
      expect: [
        silent(48, 'it has lasted for 18 s'),
        silent(60, 'it has lasted for 30 s'),
        fires(85, 'thirty of 700 are lost'),
      ],
    },
    {
      name: 'a load begins, and each shipment is 2.5 s late',
      series: [
        outcome('confirmed', counter([30, 0], [70, 10])),
        delivery('shipped', counter([32, 0], [1, 5], [67, 10])),
        ...surroundings(100),
      ],
      expect: [silent(60, 'it has lasted for 30 s'), silent(75, 'it has lasted for 45 s'), silent(98, 'it goes on')],
    },
    {
      name: 'a load ends; counts of orders were two seconds behind, and later shipments are lost',
      series: [
        outcome('confirmed', counter([32, 0], [30, 80], [198, 8])),
        delivery('shipped', counter([30, 0], [30, 80], [145, 8], [4, 1], [51, 8])),
        ...surroundings(260),
      ],
      expect: [
        silent(170, 'the two minutes begin within the load'),
        silent(179, 'they begin at its end'),
        fires(250, 'some are lost, and the load was before'),
      ],
    },
    {
      name: 'many orders come within five seconds, and some shipments are lost',
      series: [
        outcome('confirmed', counter([10, 8], [5, 40], [60, 8])),
        delivery('shipped', counter([10, 8], [1, 20], [2, 0], [2, 40], [60, 8])),
        ...surroundings(75),
      ],
      expect: [silent(25, 'they may come'), fires(60, 'they do not')],
    },
  ],
};

/** What a consumer holds is not lost, and not in the queue either: QueueNotDraining is about that. */
const shipmentsHeld: ScenarioFile = {
  name: 'ShipmentsMissing-held',
  alert: 'ShipmentsMissing',
  stepS: 1,
  scenarios: [
    {
      name: 'a consumer that was given more messages settles one, then none, and ends without them',
      series: [
        outcome('confirmed', counter([60, 14])),
        delivery('shipped', counter([1, 0], [1, 1], [58, 0])),
        ...surroundings(60, { waiting: gauge([2, 0], [40, 1], [20, 0]) }),
      ],
      expect: [
        silent(20, 'none has been settled for 10 s'),
        silent(40, 'they are late'),
        fires(60, 'none waits any more, and none was shipped'),
      ],
    },
    {
      name: 'messages are lost, and others wait for less than 10 s',
      series: [
        outcome('confirmed', counter([1, 120], [44, 0])),
        delivery('shipped', counter([45, 0])),
        ...surroundings(45, { waiting: '0 2 2 2 2 2 2 2 '.repeat(6).trim() }),
      ],
      expect: [silent(12, 'they may come'), fires(44, 'the queue is empty now and then')],
    },
    {
      name: 'messages are lost, and others are settled slowly',
      series: [
        outcome('confirmed', counter([1, 120], [44, 0.125])),
        delivery(
          'shipped',
          counter(
            [1, 1],
            ...Array.from(
              { length: 5 },
              () =>
                [
                  [7, 0],
                  [1, 1],
                ] as const,
            ).flat(),
          ),
        ),
        ...surroundings(45, { waiting: '2x45' }),
      ],
      expect: [fires(40, 'one is settled every 8 s')],
    },
    {
      name: 'a consumer holds the 50 that it is given at a time, and the queue is empty',
      series: [
        outcome('confirmed', counter([13, 10], [40, 0])),
        delivery('shipped', counter([8, 10], [45, 0])),
        ...surroundings(53),
      ],
      expect: [silent(27, 'none has been settled for 10 s'), silent(50, 'they are late')],
    },
    {
      name: 'of 80 messages one consumer cannot hold all',
      series: [
        outcome('confirmed', counter([16, 10], [30, 0])),
        delivery('shipped', counter([8, 10], [38, 0])),
        ...surroundings(46),
      ],
      expect: [silent(22, 'they may come'), fires(44, 'some are lost')],
    },
    {
      name: 'two consumers hold them',
      series: [
        outcome('confirmed', counter([16, 10], [30, 0])),
        delivery('shipped', counter([8, 10], [38, 0])),
        ...surroundings(46, { consumers: '2x46' }),
      ],
      expect: [silent(44, 'they are late')],
    },
    {
      name: 'a slow consumer holds 40 messages, and more wait',
      series: [
        outcome('confirmed', counter([10, 10], [30, 1])),
        delivery('shipped', counter([10, 6], [30, 1])),
        ...surroundings(40, { waiting: gauge([3, 0], [37, 3]) }),
      ],
      expect: [silent(38, 'they come')],
    },
    {
      name: 'ten messages are lost, while few orders are shipped',
      series: [
        outcome('confirmed', counter([8, 1], [1, 10], [40, 0.125])),
        delivery(
          'shipped',
          counter(
            [8, 1],
            ...Array.from(
              { length: 5 },
              () =>
                [
                  [7, 0],
                  [1, 1],
                ] as const,
            ).flat(),
          ),
        ),
        ...surroundings(48),
      ],
      expect: [silent(22, 'they may come'), fires(44, 'others come')],
    },
  ],
};

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
