/** One element. `text` is its own, without its children's. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

const TOKEN = /<\?xml[^>]*\?>|<(\/?)([a-z-]+)((?:\s+[A-Za-z-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;

/** Reads elements, attributes and text, which is all that reports are made of. Throws at anything that is not well-formed. */
export function parseXml(xml: string): XmlElement {
  const root = { name: '', attributes: {}, children: [] as XmlElement[], text: '' };
  const open = [root];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < xml.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(xml);
    if (match === null) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 40)}`);
    const [, close, name, attributes = '', empty, text] = match;
    const top = open.at(-1) ?? root;
    if (text !== undefined) top.text += decode(text);
    else if (close === '/') {
      if (top.name !== name || open.length === 1) throw new Error(`</${name}> ends <${top.name}>`);
      open.pop();
    } else if (name !== undefined) {
      const element = { name, attributes: readAttributes(attributes), children: [], text: '' };
      top.children.push(element);
      if (empty !== '/') open.push(element);
    }
  }
  const [only] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || only === undefined) throw new Error('not one closed element');
  return only;
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([A-Za-z-]+)="([^"]*)"/g)].map(([, name, value = '']) => [name, decode(value)]),
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#10': '\n' };

function decode(text: string): string {
  return text.replace(/&([^;\s]*;?)/g, (_, name: string) => {
    const sign = name.endsWith(';') ? ENTITIES[name.slice(0, -1)] : undefined;
    if (sign === undefined) throw new Error(`"&${name}" is not an entity`);
    return sign;
  });
}
