/** Of k6's own; its types leave it out, because they are often used together with those of a browser. */
declare const console: { log(text: string): void };
