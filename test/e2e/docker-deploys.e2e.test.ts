/*
 * Goal: deploys of images by each strategy lose no order (suites/deploys.ts). They take minutes, so `.ci/docker` runs them.
 */
import { describe } from 'vitest';
import { testDeploys } from './suites/deploys.ts';
import { findEngine } from './support/engine.ts';

const found = await findEngine('deploys of images', 'node:24-slim');
describe.skipIf(found === undefined)('in containers', { timeout: 300_000 }, () => testDeploys('docker'));
