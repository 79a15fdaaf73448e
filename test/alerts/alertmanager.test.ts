import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RECEIVERS } from '../../cli/src/pager/alertmanager/alerts.ts';
import { alertmanagerFile } from '../../dashboards/alertmanager.ts';

interface Route {
  readonly receiver: string;
  readonly matchers?: readonly string[];
  readonly group_wait?: string;
  readonly routes?: readonly Route[];
}

const file = parse(alertmanagerFile()) as {
  readonly route: Route;
  readonly inhibit_rules: readonly { readonly source_matchers: string[]; readonly target_matchers: string[] }[];
  readonly receivers: readonly { readonly name: string }[];
};

/** As Alertmanager does: the first route whose matchers all hold. Only `=` is used here. */
function receiverOf(labels: Readonly<Record<string, string>>): Route {
  const found = file.route.routes?.find(({ matchers = [] }) =>
    matchers.every((matcher) => {
      const [, name = '', value] = /^(\w+)="(.*)"$/.exec(matcher) ?? [];
      return labels[name] === value;
    }),
  );
  return found ?? file.route;
}

describe('dashboards/alertmanager.yml', () => {
  it.each([
    ['page', 'pager'],
    ['ticket', 'tickets'],
    ['cause', 'dashboards-only'],
    ['unheard-of', 'tickets'],
  ])('sends a %s to %s', (severity, receiver) => {
    expect(receiverOf({ alertname: 'Any', severity }).receiver).toBe(receiver);
  });

  it('sends a page without a wait, and the watchdog to what misses it', () => {
    expect(receiverOf({ severity: 'page' }).group_wait).toBe('0s');
    expect(receiverOf({ alertname: 'Watchdog', severity: 'none' }).receiver).toBe('watchdog');
  });

  it('has each receiver that a route names, and no other', () => {
    const named = [file.route, ...(file.route.routes ?? [])].map(({ receiver }) => receiver);
    expect(file.receivers.map(({ name }) => name).toSorted()).toEqual([...new Set(named)].toSorted());
  });

  it('has the receivers of the pager on one machine', () => {
    expect(file.receivers.map(({ name }) => name).toSorted()).toEqual(RECEIVERS.toSorted());
  });

  it('hides causes while there is a page', () => {
    expect(file.inhibit_rules).toContainEqual({
      source_matchers: ['severity="page"'],
      target_matchers: ['severity="cause"'],
    });
  });
});
