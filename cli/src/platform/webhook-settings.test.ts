import { expect, it } from 'vitest';
import { describeWebhook, webhookSettings } from './webhook-settings.ts';

const settings = (url: string) => webhookSettings({ SHOPCTL_PAGER_WEBHOOK: url, SHOPCTL_PAGER_ROUTING_KEY: 'key' });

it('takes https URLs, and http ones of this machine', () => {
  expect(webhookSettings({})).toBeUndefined();
  expect(settings('https://events.pagerduty.com/v2/enqueue')).toEqual({
    url: 'https://events.pagerduty.com/v2/enqueue',
    routingKey: 'key',
  });
  for (const host of ['127.0.0.1:9', 'localhost:9', '[::1]:9', '127.8.9.1'])
    expect(settings(`http://${host}/x`)).toBeDefined();
});

it.each([
  'nothing',
  'http://example.com/hidden',
  'http://127.0.0.1.example.com/hidden',
  'http://127.evil.com/hidden',
  'ftp://localhost/hidden',
  'https://user:hidden@example.com/',
  'file:///hidden',
])('refuses %s, and does not print it', (url) => {
  let problem: unknown;
  try {
    settings(url);
  } catch (error) {
    problem = error;
  }
  expect(problem).toMatchObject({ code: 'invalid_configuration', exitCode: 2 });
  expect(JSON.stringify(problem) + String(problem)).not.toContain(url);
  expect(JSON.stringify(problem)).not.toContain('hidden');
});

it('is described without what may be secret', () => {
  const url = 'https://hooks.example.com:8443/T0KEN?key=hidden';
  expect(describeWebhook({ url, routingKey: undefined })).toBe('https://hooks.example.com:8443');
});
