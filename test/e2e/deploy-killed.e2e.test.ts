/*
 * Goal: wherever the supervisor is killed during a deploy, the next start has one release of the service (suites/killed-deploys.ts). Each kill
 * ends the platform, so the nightly build runs it (`NIGHTLY` in vitest.config.ts).
 */
import { testKilledDeploys } from './suites/killed-deploys.ts';

testKilledDeploys('process');
