import { describe, expect, it } from 'vitest';
import { type ProblemCode, ProblemError, problems, toProblem } from './problems.ts';

const codes = Object.keys(problems) as ProblemCode[];

describe('a problem', () => {
  it.each(codes)('%s has a stable snake_case code, an error status and a title', (code) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(problems[code].status).toBeGreaterThanOrEqual(400);
    expect(problems[code].status).toBeLessThan(600);
    expect(problems[code].title).not.toBe('');
  });

  it.each(codes.filter((code) => problems[code].status === 503))('%s says when to come back', (code) => {
    expect(problems[code]).toHaveProperty('retryAfterS');
  });

  it('has the members of RFC 9457, its code and the trace id', () => {
    expect(toProblem('order_not_found', 'no order has this id', 'abc')).toEqual({
      type: 'urn:shop:problem:order_not_found',
      title: 'There is no such order',
      status: 404,
      detail: 'no order has this id',
      code: 'order_not_found',
      traceId: 'abc',
    });
  });

  it('leaves out what there is not', () => {
    expect(Object.keys(toProblem('internal_error', 'x', undefined))).not.toContain('traceId');
  });

  it('keeps its cause and headers', () => {
    const cause = new Error('ECONNREFUSED');
    const error = new ProblemError('catalog_unavailable', 'nothing was ordered', { cause, headers: { a: 'b' } });
    expect([error.cause, error.headers, error.errors]).toEqual([cause, { a: 'b' }, undefined]);
  });
});
