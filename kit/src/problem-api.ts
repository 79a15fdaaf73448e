import { Type } from 'typebox';

/** An `application/problem+json` body as the OpenAPI documents describe it; `toProblem` makes it. */
const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.String({ description: 'Stable, snake_case' }),
  traceId: Type.Optional(Type.String()),
  errors: Type.Optional(Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }))),
});

/** A response that is a problem, for a route's `response` schemas and for OpenAPI documents. */
export function problemResponse(description: string) {
  return { description, content: { 'application/problem+json': { schema: Problem } } };
}
