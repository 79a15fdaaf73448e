import { describe, expect, it } from 'vitest';
import { breaksOfOpenApi, type OpenApiDocument } from './compare-openapi.ts';

const text = { type: 'string' };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const order = (name: string) => ({ type: 'object', properties: { [name]: text }, required: [name] });

/** One operation, `POST /orders`, with what is changed. */
function aDocument(change: object = {}): OpenApiDocument {
  const post = {
    parameters: [{ name: 'key', in: 'header', required: false, schema: text }],
    requestBody: { required: true, ...json(order('customer')) },
    responses: { 201: json(order('id')), 404: { description: 'none' } },
    ...change,
  };
  return { paths: { '/orders': { post } } } as unknown as OpenApiDocument;
}

describe('between two versions of a document', () => {
  it.each([
    ['nothing', {}],
    ['one more optional parameter', { parameters: [...parameters(), { name: 'q', in: 'query', schema: text }] }],
    ['one more response', { responses: { 201: json(order('id')), 404: {}, 409: {} } }],
    ['a body that may be left out', { requestBody: { required: false, ...json(order('customer')) } }],
  ])('%s is allowed', (_title, change) => {
    expect(breaksOfOpenApi(aDocument(), aDocument(change))).toEqual([]);
  });

  it.each([
    ['a removed parameter', { parameters: [] }, 'POST /orders: the parameter key was removed'],
    [
      'a parameter that is required now',
      { parameters: parameters({ required: true }) },
      'POST /orders: the parameter key is required now',
    ],
    [
      'a parameter of another type',
      { parameters: parameters({ schema: { type: 'integer' } }) },
      'POST /orders key: no longer takes the type string',
    ],
    ['a removed response', { responses: { 404: {} } }, 'POST /orders: the response 201 was removed'],
    [
      'a renamed field of a body',
      { requestBody: { required: true, ...json(order('client')) } },
      'POST /orders body/customer: the field was removed, POST /orders body/client: the field is required now',
    ],
    [
      'a renamed field of a response',
      { responses: { 201: json(order('orderId')), 404: {} } },
      'POST /orders 201/id: the field was removed',
    ],
    [
      'another media type',
      { responses: { 201: { content: { 'text/xml': { schema: text } } }, 404: {} } },
      'POST /orders 201: the media type application/json was removed',
    ],
  ])('%s breaks', { tags: ['deliberate-break'] }, (_title, change, expected) => {
    expect(breaksOfOpenApi(aDocument(), aDocument(change)).join(', ')).toBe(expected);
  });

  it('a removed operation breaks, an added one does not', () => {
    const empty: OpenApiDocument = { paths: { '/orders': {} } };
    expect(breaksOfOpenApi(aDocument(), empty)).toEqual(['POST /orders: the operation was removed']);
    expect(breaksOfOpenApi(empty, aDocument())).toEqual([]);
  });

  it('a body that was not asked for and is required now breaks', { tags: ['deliberate-break'] }, () => {
    const { requestBody: _none, ...post } = aDocument().paths['/orders']?.post ?? {};
    const old = { paths: { '/orders': { post } } } as OpenApiDocument;
    expect(breaksOfOpenApi(old, aDocument())).toEqual(['POST /orders: a body is required now']);
  });
});

function parameters(change: object = {}) {
  return [{ name: 'key', in: 'header', required: false, schema: text, ...change }];
}
