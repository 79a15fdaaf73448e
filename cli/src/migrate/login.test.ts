import { describe, expect, it } from 'vitest';
import { parseMigrationTask } from './login.ts';

describe('the task of a migration', () => {
  it('is a service and the login that DATABASE_URL says, with the other options of the driver there', () => {
    const url = 'postgres://orders_owner:p%40ss@db.example/orders?sslmode=verify-full';
    expect(parseMigrationTask(['orders'], { DATABASE_URL: url })).toEqual({
      service: 'orders',
      login: { host: 'db.example', port: 5432, user: 'orders_owner', password: 'p@ss', database: 'orders', url },
    });
  });

  it('has the oldest release that may run, where it is given', () => {
    const args = ['orders', '--oldest', '0.3.0'];
    expect(parseMigrationTask(args, { DATABASE_URL: 'postgres://a:b@c/d' })).toMatchObject({ oldest: '0.3.0' });
  });

  it.each([
    [[], 'usage: DATABASE_URL='],
    [['orders', 'stock'], 'usage: DATABASE_URL='],
    [['../orders'], 'usage: DATABASE_URL='],
    [['orders', '--oldest'], 'usage: DATABASE_URL='],
    [['orders', '--oldest', '0.3.0', 'stock'], 'usage: DATABASE_URL='],
    [['orders', '--oldest', '0.3'], '--oldest must be a version like 0.3.0, not "0.3"'],
  ])('refuses the arguments %j', (args, message) => {
    expect(() => parseMigrationTask(args, { DATABASE_URL: 'postgres://a:b@c/d' })).toThrow(message);
  });

  it.each([undefined, 'mysql://root:secret@db/orders', 'postgres://secret', 'postgres://owner:secret@db'])(
    'refuses the URL %j and repeats none of it',
    (url) => {
      const parse = () => parseMigrationTask(['orders'], { DATABASE_URL: url });
      expect(parse).toThrow('DATABASE_URL must');
      expect(parse).not.toThrow(/secret|root/);
    },
  );
});
