import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { desktopCommand, notifyDesktop, ringText } from './ring.ts';

it('a terminal gets the bell and notices, and nothing that an alert put into its texts', () => {
  const text = ringText('Outbox;Stalled', 'a\u001b]0;title\u0007b\nc');
  expect(text).toBe(
    '\u0007\u001b]9;Outbox,Stalled: a ]0,title b c\u0007\u001b]777;notify;Outbox,Stalled;a ]0,title b c\u0007',
  );
  expect(ringText('a', 'x'.repeat(1_000)).length).toBeLessThan(500);
});

it('texts are arguments of the desktop program, not a part of its script', () => {
  const evil = '"; do shell script "touch /tmp/x';
  expect(desktopCommand(evil, '-rf', 'linux').slice(-3)).toEqual(['--', evil, '-rf']);
  const words = desktopCommand('title', evil, 'darwin');
  expect(words.filter((word) => word.includes('shell'))).toEqual([evil]);
});

it('a desktop notice is shown by the program of the desktop; without one the reason is returned', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-ring-'));
  try {
    const none = await notifyDesktop('title', 'text', { platform: 'linux', env: { PATH: folder } });
    expect(none).toBe('there is no notify-send here');
    const program = join(folder, 'notify-send');
    await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/shown"\n`);
    await chmod(program, 0o755);
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    expect(await notifyDesktop('title', 'te xt', { platform: 'linux', env })).toBeUndefined();
    expect((await readFile(join(folder, 'shown'), 'utf8')).trim().split('\n').slice(-2)).toEqual(['title', 'te xt']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
