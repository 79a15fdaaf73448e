import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';

/** A closed object: a key it does not know is an error. */
export function closed<P extends TProperties>(properties: P, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** May be left out of the file and is then what its `default` says; never missing once it was read. */
export function defaulted<S extends TSchema>(schema: S): TUnsafe<Static<S>> {
  return Type.Optional(schema) as unknown as TUnsafe<Static<S>>;
}

/** One word of several. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  description: string,
  options: { readonly default?: Words[number] } = {},
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>(Type.Enum([...words], { description, ...options }));
}
