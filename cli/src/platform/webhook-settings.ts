import { CliError } from '../errors.ts';

/** Where pages are sent beside the terminal. Both parts may be secrets. */
export interface WebhookSettings {
  readonly url: string;
  /** `routing_key` of PagerDuty's Events API v2; absent where the URL says enough. */
  readonly routingKey: string | undefined;
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

/**
 * SHOPCTL_PAGER_WEBHOOK and SHOPCTL_PAGER_ROUTING_KEY; undefined where no webhook is set. Throws CliError (2) for a URL that is neither
 * https nor of this machine: pages have names of customers' orders in them. No message has the value. Pure.
 */
export function webhookSettings(env: NodeJS.ProcessEnv): WebhookSettings | undefined {
  const { SHOPCTL_PAGER_WEBHOOK: text = '', SHOPCTL_PAGER_ROUTING_KEY: routingKey } = env;
  if (text === '') return undefined;
  const url = URL.parse(text);
  if (url === null) throw unusable('it is not a URL');
  if (url.username !== '' || url.password !== '')
    throw unusable('it has a user or a password; the path or SHOPCTL_PAGER_ROUTING_KEY takes secrets');
  const isLocal = url.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) throw unusable('it is neither https nor on this machine');
  return { url: url.href, routingKey: routingKey || undefined };
}

/** What may be printed of a webhook. */
export function describeWebhook({ url }: WebhookSettings): string {
  return new URL(url).origin;
}

function unusable(why: string): CliError {
  return new CliError({
    code: 'invalid_configuration',
    what: 'SHOPCTL_PAGER_WEBHOOK cannot be used',
    why,
    next: 'set it to an https URL, or to one on 127.0.0.1, or unset it',
  });
}
