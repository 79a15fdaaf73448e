import { describe, expect, it } from 'vitest';
import { compareBindings, readAlarms, resetLimits } from './broker.ts';

/* Goal: what a broker prints is read in both ways it is asked (erl_call, rabbitmqctl). Method: the printed text. */

const printing = (...texts: readonly string[]) => {
  const rest = [...texts];
  const asked: string[] = [];
  const askBroker = async (erlang: string) => {
    asked.push(erlang);
    return (rest.length > 1 ? rest.shift() : rest[0]) as string;
  };
  return { askBroker, asked };
};

describe('resource alarms', () => {
  it('are off where the broker lists none', async () => {
    expect(await readAlarms(printing('{50000000, 78816198656, 10110604083, 225693696, 0, []}'))).toEqual({
      alarms: [
        { resource: 'disk', isOn: false, limitBytes: 50_000_000, measuredBytes: 78_816_198_656 },
        { resource: 'memory', isOn: false, limitBytes: 10_110_604_083, measuredBytes: 225_693_696 },
      ],
      blockedConnections: 0,
    });
  });

  it('are on with what they block, also where the free space is not known', async () => {
    const report = await readAlarms(printing("{1000000000000000,'NaN',1000,225693696,2,[disk,memory]}\n"));
    expect(report).toMatchObject({
      alarms: [
        { isOn: true, measuredBytes: null },
        { isOn: true, limitBytes: 1_000 },
      ],
      blockedConnections: 2,
    });
  });

  it('are unknown where the broker prints something else', async () => {
    await expect(readAlarms(printing('{badrpc, nodedown}'))).rejects.toThrow('nodedown');
  });

  it('end with the limits of the configuration', async () => {
    const broker = printing('ok', '{1, 2, 3, 4, 1, [disk]}', '{1, 2, 3, 4, 0, []}');
    expect(await resetLimits(broker)).toMatchObject({ blockedConnections: 0 });
    expect(broker.asked[0]).toMatch(/set_disk_free_limit[\s\S]*set_vm_memory_high_watermark/);
  });

  it('that stay on are real, and named', async () => {
    await expect(resetLimits(printing('ok', '{1, 2, 3, 4, 1, [memory]}'), 60)).rejects.toMatchObject({
      code: 'operation_ineffective',
      what: 'the memory alarm of the broker is still on',
    });
  });
});

describe('bindings', () => {
  const printed = (...bindings: readonly (readonly string[])[]) =>
    `[${bindings.map((names) => `'${names.map((name) => Buffer.from(name).toString('base64')).join(',')}'`).join(', ')}]`;

  it('are bound, missing, or declared by no service', async () => {
    const broker = printing(
      printed(['shop.events', 'shipping.order-confirmed', 'order.confirmed'], ['shop.events', 'mine', '#']),
    );
    const bindings = await compareBindings(broker);
    const stateOf = (queue: string, routingKey: string) =>
      bindings.filter((one) => one.queue === queue && one.routingKey === routingKey).map(({ state }) => state);
    expect(stateOf('shipping.order-confirmed', 'order.confirmed')).toEqual(['bound']);
    expect(stateOf('shipping.order-confirmed', 'order.confirmed.v2')).toEqual(['missing']);
    expect(stateOf('shipping.dead-letters', '')).toEqual(['missing']);
    expect(stateOf('shipping.order-confirmed.retries', '')).toEqual(['missing']);
    expect(stateOf('mine', '#')).toEqual(['unknown']);
  });

  it('are all missing on an empty broker, and unknown on one that prints something else', async () => {
    expect((await compareBindings(printing('[]'))).every(({ state }) => state === 'missing')).toBe(true);
    await expect(compareBindings(printing('{badrpc, nodedown}'))).rejects.toThrow('nodedown');
  });
});
