/*
 * Goal: deploys by each strategy lose no order (suites/deploys.ts). They take minutes, so the nightly build runs them (`NIGHTLY` in
 * vitest.config.ts).
 */
import { testDeploys } from './suites/deploys.ts';

testDeploys('process');
