import { FlagdCore } from '@openfeature/flagd-core';
import {
  type Logger as FlagLogger,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
} from '@openfeature/server-sdk';
import { type FlagFile, interpreted } from './flag-file.ts';

/** Evaluates flags of flagd's format in this process. */
export interface FlagProvider extends Provider {
  /** What is evaluated, also in handlers of the event that it changed. */
  readonly current: FlagFile;
  /** Takes the place of all flags. Throws where flagd cannot read them; the earlier ones stay then. */
  load(file: FlagFile): void;
}

/** flagd's own provider is a gRPC client; its evaluation alone is what is needed here (decision 0098). */
export function createFlagProvider(): FlagProvider {
  const core = new FlagdCore(undefined, silent, interpreted);
  const events = new OpenFeatureEventEmitter();
  let current: FlagFile = { flags: {} };
  return {
    metadata: { name: 'flagd-core' },
    runsOn: 'server',
    events,
    get current() {
      return current;
    },
    load(file) {
      const flagsChanged = core.setConfigurations(JSON.stringify(file));
      current = file;
      events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged });
    },
    resolveBooleanEvaluation: async (...of) => core.resolveBooleanEvaluation(...of),
    resolveStringEvaluation: async (...of) => core.resolveStringEvaluation(...of),
    resolveNumberEvaluation: async (...of) => core.resolveNumberEvaluation(...of),
    resolveObjectEvaluation: async (...of) => core.resolveObjectEvaluation(...of),
  };
}

const ignore = () => undefined;

/** A rule that fails is in the details of its evaluation, which are logged once (flags.ts). */
const silent: FlagLogger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
