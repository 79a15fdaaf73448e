import { describe, expect, it } from 'vitest';
import { changeSettings, settingsIn } from './settings.ts';

describe('the settings of another "up"', () => {
  const started = { PATH: '/bin', LOG_LEVEL: 'info', EDGE_ORDERS_STOCK_ATTEMPTS: '2', SHOPCTL_FAILPOINTS: '1' };

  it('are those for services and for the platform: nothing of the shell, and nothing that is empty', () => {
    const env = { ...started, LANG: 'C', SHOPCTL_PROJECT: 'mine', LOG_LEVEL: '' };
    expect(settingsIn(env)).toEqual({ EDGE_ORDERS_STOCK_ATTEMPTS: '2', SHOPCTL_FAILPOINTS: '1' });
  });

  it('change nothing when they are the same', () => {
    expect(changeSettings(started, settingsIn(started))).toEqual({ env: started, changed: [], warnings: [] });
  });

  it('replace those of services, also the ones that are unset now; the rest of the environment stays', () => {
    const { env, changed } = changeSettings(started, { LOG_LEVEL: 'debug', SHOPCTL_FAILPOINTS: '1' });
    expect(env).toEqual({ PATH: '/bin', LOG_LEVEL: 'debug', SHOPCTL_FAILPOINTS: '1' });
    expect(changed).toEqual([
      { name: 'EDGE_ORDERS_STOCK_ATTEMPTS', from: '2', to: null },
      { name: 'LOG_LEVEL', from: 'info', to: 'debug' },
    ]);
  });

  it('are refused by name, without their values, where a running platform cannot take them', () => {
    const url = 'postgres://admin:secret@127.0.0.1/postgres';
    const change = () => changeSettings(started, { ...settingsIn(started), SHOPCTL_POSTGRES_URL: url });
    expect(change).toThrow('SHOPCTL_POSTGRES_URL cannot be changed while the platform runs');
    expect(change).not.toThrow('secret');
  });

  it('are warned of where what the platform was started with is unset now', () => {
    const { env, warnings } = changeSettings(started, { LOG_LEVEL: 'info', EDGE_ORDERS_STOCK_ATTEMPTS: '2' });
    expect(env).toEqual(started);
    expect(warnings).toEqual([
      'SHOPCTL_FAILPOINTS was set when the platform was started and is not now: it stays until "shopctl down"',
    ]);
  });

  it('stay as they are where none are brought', () => {
    expect(changeSettings(started, undefined)).toEqual({ env: started, changed: [], warnings: [] });
  });
});
