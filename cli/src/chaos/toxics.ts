import { type Static, type TProperties, type TSchema, Type } from 'typebox';

/** Direction of a toxic: `downstream` on responses to the caller, `upstream` on requests of the caller. */
export type Stream = 'upstream' | 'downstream';

export const streams: readonly Stream[] = ['upstream', 'downstream'];

/** Longest time any attribute may name, in ms. */
const MAX_MS = 3_600_000;

const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false });
const ms = (minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: MAX_MS, description, unit: 'ms' });

/**
 * Attributes of each toxic. The server ignores names it does not know, and its zero defaults differ in meaning: latency
 * 0 is nothing, limit_data 0 is an instant close, timeout 0 a black hole. A negative rate ends the server. So every
 * attribute that matters is required, within a meaningful range.
 */
export const toxicAttributes = {
  latency: strict({
    latency: ms(1, 'delay of each piece of data'),
    jitter: Type.Optional(ms(0, 'the delay varies by this much either way')),
  }),
  bandwidth: strict({
    rate: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'data per second, in KB' }),
  }),
  slow_close: strict({ delay: ms(1, 'delay of the end of a connection') }),
  timeout: strict({ timeout: ms(0, 'silence after which a connection is closed; 0: never, data just disappears') }),
  reset_peer: strict({ timeout: ms(0, 'time until a connection is reset; 0: immediately') }),
  slicer: strict({
    average_size: Type.Integer({ minimum: 1, maximum: 65_536, description: 'size of a piece, in bytes' }),
    size_variation: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 65_535, description: 'the size varies by this much, in bytes' }),
    ),
    delay: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_MS * 1000, description: 'pause between pieces, in microseconds' }),
    ),
  }),
  limit_data: strict({
    bytes: Type.Integer({ minimum: 1, maximum: 2 ** 40, description: 'a connection is closed after so many bytes' }),
  }),
} as const satisfies Record<string, TSchema>;

export type ToxicType = keyof typeof toxicAttributes;

/** A toxic as it is added to a proxy; its attributes follow from its type. */
export type Toxic = {
  [T in ToxicType]: {
    readonly type: T;
    readonly name: string;
    readonly stream: Stream;
    /** Share of connections it acts on, above 0 and up to 1. */
    readonly toxicity: number;
    readonly attributes: Static<(typeof toxicAttributes)[T]>;
  };
}[ToxicType];
