import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { ConfigError, commonVariables, databaseVariables, parseEnvironment, parseList } from './config.ts';

const schema = Type.Object({ ...commonVariables, ...databaseVariables(4) });
const complete = { PORT: '8080', DATABASE_URL: 'postgres://stock:secret@127.0.0.1/stock' };

describe('the environment', () => {
  it('is read as numbers and text, with defaults', () => {
    expect(parseEnvironment(schema, { ...complete, DRAIN_TIMEOUT_MS: '250', UNKNOWN: 'ignored' })).toEqual({
      HOST: '127.0.0.1',
      PORT: 8080,
      SHOP_TRACK: 'stable',
      LOG_LEVEL: 'info',
      DRAIN_TIMEOUT_MS: 250,
      DATABASE_URL: complete.DATABASE_URL,
      DATABASE_POOL_SIZE: 4,
    });
  });

  it('is frozen afterwards', () => {
    expect(Object.isFrozen(parseEnvironment(schema, complete))).toBe(true);
  });

  it('is refused with all that is wrong in one error', () => {
    const env = { PORT: 'x', LOG_LEVEL: 'loud' };
    expect(() => parseEnvironment(schema, env)).toThrow(ConfigError);
    expect(() => parseEnvironment(schema, env)).toThrow(
      /DATABASE_URL must be set.*PORT|PORT.*DATABASE_URL must be set/,
    );
    expect(() => parseEnvironment(schema, env)).toThrow(/LOG_LEVEL/);
  });

  it.each(['1.5', '1e3', '0x10', 'true', '', ' ', '8080 '])('takes no "%s" for a port', (PORT) => {
    expect(() => parseEnvironment(schema, { ...complete, PORT })).toThrow(/PORT/);
  });

  it('does not repeat a secret that is wrong', () => {
    const env = { PORT: '1', DATABASE_URL: 'mysql://root:hunter2@127.0.0.1' };
    expect(() => parseEnvironment(schema, env)).toThrow(/^(?!.*hunter2).*DATABASE_URL.*got another value/);
  });
});

describe('a list', () => {
  it.each([
    ['a,b', ['a', 'b']],
    [' a , ,b,', ['a', 'b']],
    ['', []],
  ])('%j has the parts %j', (text, parts) => {
    expect(parseList(text)).toEqual(parts);
  });
});
