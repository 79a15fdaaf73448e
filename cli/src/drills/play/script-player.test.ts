import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aSession } from '../testing/fake-session.ts';
import { scriptPlayer } from './script-player.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

it('plays its lines, without comments, and waits for the end of the round', async () => {
  const fake = aSession();
  const playing = scriptPlayer('# first look\nwait page\n\ndrill ack\nwait 2s\ndrill fixed\n', 'a.txt')(fake.session);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fake.ran).toEqual(['drill ack', 'drill fixed']);
  expect(fake.said).toEqual(['OrdersErrorBudgetBurn', 'drill ack', 'wait 2s', 'drill fixed']);
  fake.over.abort();
  await playing;
});

it.each([
  ['status\nwait forever', 'a.txt:2 cannot be played', /expected "wait page"/],
  ['wait symptom', 'a.txt:1 cannot be played', /a script does not know/],
  ['drill note "open', 'a.txt:1 cannot be played', /a quote does not end/],
  ['chaos clear --all', 'a.txt:1 cannot be played', /"chaos" is not a command of an operator/],
])('is refused with its line: %s', (text, what, why) => {
  expect(() => scriptPlayer(text, 'a.txt')).toThrow(
    expect.objectContaining({ code: 'invalid_script', what, why: expect.stringMatching(why) }),
  );
});
