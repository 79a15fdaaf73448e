/*
 * Goal: the same as with processes, with a service whose releases are images (suites/schema-releases.ts). Each image takes the installation of
 * its packages, so `.ci/docker` runs it.
 */
import { describe } from 'vitest';
import { testSchemaReleases } from './suites/schema-releases.ts';
import { findEngine } from './support/engine.ts';

const found = await findEngine('a column that is replaced over releases of images', 'node:24-slim');
describe.skipIf(found === undefined)('in containers', { timeout: 300_000 }, () => testSchemaReleases('docker'));
