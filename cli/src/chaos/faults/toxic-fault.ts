import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { type CanaryOptions, type CanaryResult, canary } from '../canary.ts';
import { type EdgeRecord, recordEdge, revertOnEdge, verifyEdge } from '../edge.ts';
import { type AnyFault, defineFault, type FaultDefaults, type Witness } from '../fault.ts';
import { type Stream, streams, type Toxic, type ToxicType, type toxicAttributes } from '../toxics.ts';
import { checkToxic } from '../toxiproxy-client.ts';

/** Connections through an edge, for a witness. */
export interface EdgeProbe {
  readonly before: CanaryResult;
  readonly stream: Stream;
  send(options: CanaryOptions): Promise<CanaryResult>;
}

/** What makes one toxic a fault; the rest is the same for all. */
interface ToxicFaultOptions<T extends ToxicType, Schema extends TObject> {
  readonly type: T;
  readonly title: string;
  /** Parameters of the fault. */
  readonly parameters: Schema;
  readonly defaults: FaultDefaults<Static<Schema>>;
  readonly presets: readonly Static<Schema>[];
  attributes(parameters: Static<Schema>): Static<(typeof toxicAttributes)[T]>;
  /** One look; with a toxicity below 1 it is repeated, because a connection may be unaffected. */
  witness(probe: EdgeProbe, parameters: Static<Schema>): Promise<Witness>;
}

interface ToxicUndo {
  readonly edge: EdgeRecord;
  readonly toxic: string;
}

/**
 * A toxic that does not affect every connection is looked for on so many that it affects one of them in 99 of 100 looks.
 * Below one connection in twenty it is not looked for: it may well affect no request of an experiment.
 */
const MIN_TOXICITY = 0.05;
const SURE = 0.99;

const common = {
  stream: Type.Optional(
    Type.Union(
      streams.map((stream) => Type.Literal(stream)),
      { description: 'downstream (responses; the default) or upstream (requests)' },
    ),
  ),
  toxicity: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'share of connections, above 0 and up to 1' }),
  ),
};

type Common = { readonly stream?: Stream; readonly toxicity?: number };

/** A toxic on one edge, as a fault. */
export function toxicFault<T extends ToxicType, Schema extends TObject>(
  options: ToxicFaultOptions<T, Schema>,
): AnyFault {
  const { type, title, defaults, presets } = options;
  const parameters = Type.Object(
    { ...(options.parameters.properties as TProperties), ...common },
    { additionalProperties: false },
  );
  const toxicOf = (name: string, all: Common & Static<Schema>) => {
    const { stream = 'downstream', toxicity = 1, ...own } = all;
    return { type, name, stream, toxicity, attributes: options.attributes(own as Static<Schema>) } as Toxic;
  };
  return defineFault<TObject, ToxicUndo>({
    name: type,
    kind: 'toxic',
    scope: 'edge',
    title,
    parameters,
    defaults,
    presets,
    async prepare({ id, target, parameters }, platform) {
      const toxic = toxicOf(`${type}_${id}`, parameters as Common & Static<Schema>);
      checkToxic(toxic);
      return { edge: await recordEdge(target, platform), toxic: toxic.name };
    },
    inject: ({ parameters }, { edge, toxic }, platform) =>
      platform.toxiproxy(edge.apiUrl).addToxic(edge.proxy, toxicOf(toxic, parameters as Common & Static<Schema>)),
    async witness({ parameters }, { edge }) {
      const { stream = 'downstream', toxicity = 1 } = parameters as Common;
      if (edge.before.ended !== 'responded') {
        return { verdict: 'unmeasurable', evidence: `${edge.proxy} did not serve before the fault either` };
      }
      const probe: EdgeProbe = {
        before: edge.before,
        stream,
        send: (sending) => canary(edge.listen, edge.protocol, sending),
      };
      if (toxicity < MIN_TOXICITY) {
        const evidence = `it affects only ${toxicity * 100} % of connections: an order hardly ever meets it`;
        return { verdict: 'unmeasurable', evidence };
      }
      const looks = toxicity === 1 ? 1 : Math.ceil(Math.log(1 - SURE) / Math.log(1 - toxicity));
      let witness = await options.witness(probe, parameters as Static<Schema>);
      for (let look = 1; look < looks && witness.verdict === 'not_observed'; look++) {
        witness = await options.witness(probe, parameters as Static<Schema>);
      }
      return witness;
    },
    async isInPlace({ edge, toxic }, platform) {
      const { toxics } = await platform.toxiproxy(edge.apiUrl).proxy(edge.proxy);
      return toxics.some(({ name }) => name === toxic);
    },
    undo: ({ edge, toxic }, platform) =>
      revertOnEdge(edge, platform, () => platform.toxiproxy(edge.apiUrl).removeToxic(edge.proxy, toxic)),
    verify: ({ edge, toxic }, platform) =>
      verifyEdge(edge, platform, async () => {
        const { toxics } = await platform.toxiproxy(edge.apiUrl).proxy(edge.proxy);
        return toxics.every(({ name }) => name !== toxic);
      }),
  });
}

/** `observed` or `not_observed`, with the measurement. */
export function toWitness(isObserved: boolean, evidence: string): Witness {
  return { verdict: isObserved ? 'observed' : 'not_observed', evidence };
}
