/** The fields of an order event that a message has, and the names of the others, whose values may say who the customer is. */
export interface EventPayload {
  readonly event: Readonly<Record<string, unknown>> | null;
  readonly otherFields: readonly string[];
}

const FIELDS = ['specversion', 'id', 'type', 'source', 'time', 'subject', 'datacontenttype'];
const FIELDS_OF_DATA = ['orderId', 'lines', 'total', 'currency'];
const FIELDS_OF_LINES = ['productId', 'quantity', 'unitPrice'];
const FIELDS_OF_TOTAL = ['amount', 'currency'];

/** Longer values are none that an event has. */
const MAX_TEXT = 100;
/** An order has at most 100 lines. */
const MAX_LINES = 100;

/** What a message says as an order event, whatever it is. Pure. */
export function eventPayload(content: Uint8Array): { fields: EventPayload; orderId: string | null } {
  const body = parse(content);
  if (body === undefined) return { fields: { event: null, otherFields: [] }, orderId: null };
  const otherFields = Object.keys(body).filter((name) => name !== 'data' && !FIELDS.includes(name));
  const data = objectOf(body.data);
  if (data === undefined) return { fields: { event: pick(body, FIELDS), otherFields }, orderId: null };
  otherFields.push(
    ...Object.keys(data)
      .filter((name) => !FIELDS_OF_DATA.includes(name))
      .map((name) => `data.${name}`),
  );
  const total = objectOf(data.total);
  const event = {
    ...pick(body, FIELDS),
    data: {
      ...pick(data, FIELDS_OF_DATA),
      ...(Array.isArray(data.lines) && {
        lines: data.lines.slice(0, MAX_LINES).map((line) => pick(objectOf(line) ?? {}, FIELDS_OF_LINES)),
      }),
      ...(total && { total: pick(total, FIELDS_OF_TOTAL) }),
    },
  };
  const isId = typeof data.orderId === 'string' && /^[0-9a-f-]{36}$/i.test(data.orderId);
  return { fields: { event, otherFields: otherFields.map(shortened) }, orderId: isId ? String(data.orderId) : null };
}

function parse(content: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    return objectOf(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content)));
  } catch {
    return undefined; // What is wrong with it is reported by the reader of events.
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** Values of these fields that are text or numbers, and short. */
function pick(value: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(value).filter(([name]) => names.includes(name));
  const short = entries.map(([name, field]) => [name, typeof field === 'string' ? shortened(field) : field] as const);
  return Object.fromEntries(short.filter(([, field]) => typeof field === 'string' || typeof field === 'number'));
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text;
}
