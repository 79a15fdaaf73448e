import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Statement } from '@shop/kit/database.ts';
import { adoptSagas } from '../repository.ts';

/**
 * Seeded bug `crash-in-recovery`: the process that takes a saga over crashes before it continues it, once for each saga.
 * A file in the failpoints' folder remembers that; its name has a dot, which a failpoint's never has.
 */
export function crashingInRecovery(database: Database, folder: string, crash: () => void): Database {
  const query: Database['query'] = async (statement: Statement, values) => {
    const result = await database.query(statement, values);
    if (statement !== adoptSagas) return result as never;
    for (const { id } of result.rows as { id: string }[]) {
      const memory = join(folder, `.crashed-${id}`);
      if (existsSync(memory)) continue;
      writeFileSync(memory, '');
      crash();
    }
    return result as never;
  };
  return { ...database, query };
}
