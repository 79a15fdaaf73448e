import { alarmFault } from './alarm.ts';

/** A share of 0 is always passed; the broker's own way to stop all publishing. */
export const memoryAlarm = alarmFault({
  name: 'memory-alarm',
  title: "the broker's memory alarm is on: it blocks connections that publish, consumers go on",
  alarm: 'memory',
  read: 'vm_memory_monitor:get_vm_memory_high_watermark().',
  set: (limit) => `vm_memory_monitor:set_vm_memory_high_watermark(${limit}).`,
  tooTight: '0',
});
