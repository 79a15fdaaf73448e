import { breaksOfSchema, type Direction, type Schema } from './compare-schemas.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The part of an OpenAPI 3.1 document that is compared: paths, parameters, bodies, responses. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** What breaks a client between two versions of a document, one sentence each; empty when nothing does. */
export function breaksOfOpenApi(old: OpenApiDocument, next: OpenApiDocument): readonly string[] {
  return Object.entries(old.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const at = `${method.toUpperCase()} ${path}`;
      const now = next.paths[path]?.[method];
      return now === undefined ? [`${at}: the operation was removed`] : compareOperations(operation, now, at);
    }),
  );
}

function compareOperations(old: Operation, next: Operation, at: string): readonly string[] {
  return [
    ...compareParameters(old.parameters ?? [], next.parameters ?? [], at),
    ...compareBodies(old.requestBody, next.requestBody, at),
    ...compareResponses(old.responses ?? {}, next.responses ?? {}, at),
  ];
}

function compareParameters(old: readonly Parameter[], next: readonly Parameter[], at: string): readonly string[] {
  const find = (among: readonly Parameter[], wanted: Parameter) =>
    among.find((one) => one.name === wanted.name && one.in === wanted.in);
  const added = next.filter((one) => one.required === true && find(old, one)?.required !== true);
  return [
    ...added.map(({ name }) => `${at}: the parameter ${name} is required now`),
    ...old.flatMap((one) => {
      const now = find(next, one);
      if (now === undefined) return [`${at}: the parameter ${one.name} was removed`];
      return breaksOfSchema(one.schema ?? {}, now.schema ?? {}, 'request', `${at} ${one.name}`);
    }),
  ];
}

function compareBodies(old: Operation['requestBody'], next: Operation['requestBody'], at: string): readonly string[] {
  const isNeeded = next?.required === true && old?.required !== true;
  return [
    ...(isNeeded ? [`${at}: a body is required now`] : []),
    ...compareContents(old?.content ?? {}, next?.content ?? {}, 'request', `${at} body`),
  ];
}

function compareResponses(
  old: NonNullable<Operation['responses']>,
  next: NonNullable<Operation['responses']>,
  at: string,
): readonly string[] {
  return Object.entries(old).flatMap(([status, response]) => {
    const now = next[status];
    if (now === undefined) return [`${at}: the response ${status} was removed`];
    return compareContents(response.content ?? {}, now.content ?? {}, 'response', `${at} ${status}`);
  });
}

function compareContents(old: Content, next: Content, direction: Direction, at: string): readonly string[] {
  return Object.entries(old).flatMap(([type, { schema }]) => {
    const now = next[type];
    if (now === undefined) return [`${at}: the media type ${type} was removed`];
    return breaksOfSchema(schema ?? {}, now.schema ?? {}, direction, at);
  });
}
