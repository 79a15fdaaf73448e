import { decodedText } from '@shop/kit/text.ts';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ReserveRequest } from './reservation.ts';

/** The request does not fit; the message names the field and repeats no value. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
}

/** A hundred lines of this many units still sum up to an int32. */
const MAX_QUANTITY = 1_000_000;
const MAX_LINES = 100;

const order = {
  orderId: Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }),
  idempotencyKey: decodedText({ minLength: 1, maxLength: 200 }),
};
const Release = Compile(Type.Object(order));
const Reserve = Compile(
  Type.Object({
    ...order,
    lines: Type.Array(
      Type.Object({ productId: Type.Integer(), quantity: Type.Integer({ minimum: 1, maximum: MAX_QUANTITY }) }),
      { minItems: 1, maxItems: MAX_LINES },
    ),
  }),
);

/** Throws InvalidRequestError. */
export function parseReserve(request: unknown): ReserveRequest {
  if (!Reserve.Check(request)) throw invalid(Reserve.Errors(request));
  return { ...request, orderId: request.orderId.toLowerCase() };
}

/** Throws InvalidRequestError. */
export function parseRelease(request: unknown): { orderId: string; idempotencyKey: string } {
  if (!Release.Check(request)) throw invalid(Release.Errors(request));
  return { orderId: request.orderId.toLowerCase(), idempotencyKey: request.idempotencyKey };
}

function invalid([first]: { instancePath: string; message: string }[]): InvalidRequestError {
  return new InvalidRequestError(`${first?.instancePath.slice(1) || 'the request'} ${first?.message}`);
}
