/**
 * Contracts between services in Pact's format: consumers record them with their real client code, providers verify
 * themselves against every one that names them. They are committed in contracts/pacts.
 */
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PactV4, Verifier } from '@pact-foundation/pact';
import type { EdgeLimits } from '@shop/kit/edges.ts';
import { expect } from 'vitest';
import type { ServiceName } from '../../cli/src/topology/services.ts';

const pactsDir = join(import.meta.dirname, '../../contracts/pacts');

export interface PactRecording extends AsyncDisposable {
  readonly pact: PactV4;
  /**
   * Compares what was recorded with the committed contract; `npm run generate` writes it. Throws, and writes nothing, when an
   * interaction was begun and not recorded, because its test failed.
   */
  expectCommitted(): Promise<void>;
}

/** Records the expectations of a consumer in a separate folder. */
export async function recordPact(consumer: ServiceName, provider: ServiceName): Promise<PactRecording> {
  const dir = await mkdtemp(join(tmpdir(), 'shop-pact-'));
  const name = `${consumer}-${provider}.json`;
  const pact = new CountingPact({ consumer, provider, dir, logLevel: 'error' });
  return {
    pact,
    async expectCommitted() {
      const { metadata: _versionsOfLibraries, ...contract } = JSON.parse(await readFile(join(dir, name), 'utf8'));
      const { length: recorded } = contract.interactions;
      if (recorded < pact.begun) throw new Error(`${recorded} of ${pact.begun} interactions of ${name} were recorded`);
      const text = `${JSON.stringify({ ...contract, metadata: { pactSpecification: { version: '4.0' } } }, null, 2)}\n`;
      await expect(text).toMatchFileSnapshot(join(pactsDir, name));
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true }),
  };
}

/** Knows how many interactions were begun: the library leaves out of its file those whose tests failed. */
class CountingPact extends PactV4 {
  begun = 0;

  override addInteraction() {
    this.begun += 1;
    return super.addInteraction();
  }

  override addAsynchronousInteraction() {
    this.begun += 1;
    return super.addAsynchronousInteraction();
  }
}

/** A recorded call has all the time that a busy machine needs, ms: a contract is about contents. */
export const RECORDING_LIMIT_MS = 20_000;

/** An edge's limits with that time. */
export function unhurried(limits: EdgeLimits): EdgeLimits {
  return { ...limits, attemptTimeoutMs: RECORDING_LIMIT_MS, callTimeoutMs: RECORDING_LIMIT_MS };
}

type Options = ConstructorParameters<typeof Verifier>[0];

export interface ProviderUnderTest {
  readonly provider: ServiceName;
  /** Where the real server listens; a provider of messages alone has none. */
  readonly baseUrl?: string;
  /** Brings the provider into a state that a contract names (`given`). */
  readonly states?: NonNullable<Options['stateHandlers']>;
  /** Makes the messages that contracts name by their description. */
  readonly messages?: NonNullable<Options['messageProviders']>;
}

/** What the verifier says of one interaction that does not hold. */
interface Broken {
  readonly interaction: string;
  readonly mismatch: {
    readonly message?: string;
    readonly mismatches?: readonly { readonly path?: string; readonly mismatch: string }[];
  };
}

/**
 * Verifies a provider against the contract of one consumer; resolves with what would break it, one sentence per
 * difference, and with nothing when the contract holds. Rejects when it could not be verified.
 */
export async function breaksOfPact(consumer: ServiceName, provider: ProviderUnderTest): Promise<readonly string[]> {
  const file = join(pactsDir, `${consumer}-${provider.provider}.json`);
  await refuseUnknownStates(file, provider.states ?? {});
  const verifier = new Verifier({
    provider: provider.provider,
    pactUrls: [file],
    ...(provider.baseUrl !== undefined && { providerBaseUrl: provider.baseUrl }),
    ...(provider.states !== undefined && { stateHandlers: provider.states }),
    ...(provider.messages !== undefined && { messageProviders: provider.messages }),
    logLevel: 'error',
  });
  try {
    await verifier.verifyProvider();
    return [];
  } catch (error) {
    return brokenIn(error).flatMap(({ interaction, mismatch: { message, mismatches } }) =>
      (mismatches ?? [{ mismatch: message ?? 'does not hold' }]).map(
        (one) => `${interaction}: ${one.path ?? ''} ${one.mismatch}`,
      ),
    );
  }
}

/** The verifier would only warn of a state without a handler, and verify in another one. */
async function refuseUnknownStates(file: string, states: object): Promise<void> {
  const { interactions } = JSON.parse(await readFile(file, 'utf8')) as {
    interactions: readonly { readonly providerStates?: readonly { readonly name: string }[] }[];
  };
  const named = interactions.flatMap(({ providerStates = [] }) => providerStates.map(({ name }) => name));
  const unknown = named.find((name) => !(name in states));
  if (unknown !== undefined) throw new Error(`${file}: there is no state handler for "${unknown}"`);
}

/** The verifier's own result, which its error has as text. Throws any other error. */
function brokenIn(error: unknown): readonly Broken[] {
  const text = error instanceof Error ? error.message : String(error);
  if (!text.startsWith('{"errors":')) throw error;
  return (JSON.parse(text) as { errors: readonly Broken[] }).errors;
}

/** Consumers that have recorded a contract with a provider; each must be verified. */
export function consumersOf(provider: ServiceName): readonly string[] {
  const ending = `-${provider}.json`;
  return readdirSync(pactsDir)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
}
