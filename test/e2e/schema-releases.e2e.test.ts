/*
 * Goal: a column is replaced over four releases of orders without a failed request (suites/schema-releases.ts). It takes a minute and more, so
 * the nightly build runs it (`NIGHTLY` in vitest.config.ts).
 */
import { testSchemaReleases } from './suites/schema-releases.ts';

testSchemaReleases('process');
