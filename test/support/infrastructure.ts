/**
 * Real PostgreSQL and RabbitMQ for integration tests. Each call gives a fresh database or virtual host, so test files
 * run at the same time; all are gone after the run. The first call of a run starts the server: call them in `beforeAll`.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import type { DatabaseName } from '../../cli/src/topology/databases.ts';
import type { TestBroker } from './broker.ts';
import type { TestDatabase } from './postgres.ts';

/** For `beforeAll(..., START_TIMEOUT_MS)`: the first test file waits until the server has started. */
export const START_TIMEOUT_MS = 90_000;

/** A separate migrated, seeded database, with the platform's roles. Throws with the reason when there can be none. */
export function createDatabase(name: DatabaseName): Promise<TestDatabase> {
  return ask<TestDatabase>(`/database/${name}`);
}

/** A separate virtual host with the platform's accounts. Throws with the reason when there can be none. */
export function createBroker(): Promise<TestBroker> {
  return ask<TestBroker>('/broker');
}

async function ask<T>(path: string): Promise<T> {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    request({ socketPath: inject('testInfrastructure'), path, method: 'POST' }, resolve)
      .once('error', reject)
      .end(),
  );
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`test infrastructure, ${path}: ${body}`);
  return JSON.parse(body) as T;
}
