import { alarmFault } from './alarm.ts';

/** The limit is set far above what any disk has free. */
export const diskAlarm = alarmFault({
  name: 'disk-alarm',
  title: "the broker's disk alarm is on: it blocks connections that publish, consumers go on",
  alarm: 'disk',
  read: 'rabbit_disk_monitor:get_disk_free_limit().',
  set: (limit) => `rabbit_disk_monitor:set_disk_free_limit(${limit}).`,
  tooTight: '1000000000000000',
});
