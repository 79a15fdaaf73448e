/*
 * Goal: wherever the supervisor is killed during a deploy of images, the next start has one release of the service, and no container of the other
 * (suites/killed-deploys.ts). It takes minutes, so `.ci/docker` runs it.
 */
import { describe } from 'vitest';
import { testKilledDeploys } from './suites/killed-deploys.ts';
import { findEngine } from './support/engine.ts';

const found = await findEngine('killed deploys of images', 'node:24-slim');
describe.skipIf(found === undefined)('in containers', { timeout: 240_000 }, () => testKilledDeploys('docker'));
