/**
 * A JSON tree with comments and trailing commas. jsonc-parser would reformat lines and delete comments
 * (docs/dependencies.md).
 */
export type JsonNode = JsonContainer | JsonScalar;

interface Placed {
  readonly start: number;
  readonly end: number;
}

export interface JsonContainer extends Placed {
  readonly kind: 'object' | 'array';
  readonly children: readonly JsonChild[];
}

interface JsonScalar extends Placed {
  readonly kind: 'scalar';
  readonly value: unknown;
}

/** A member of an object, starting at its name, or an item of a list. */
export interface JsonChild extends Placed {
  /** Empty for an item of a list. */
  readonly key: string;
  readonly value: JsonNode;
  readonly comma: number | undefined;
}

export type Scanned =
  | { readonly ok: true; readonly root: JsonNode | undefined }
  | { readonly ok: false; readonly what: string; readonly line: number; readonly column: number };

/** Scans JSON with comments. The root is undefined if the text has only white space and comments. */
export function scanJson(text: string): Scanned {
  const scanner = new Scanner(text);
  try {
    scanner.skipSpace();
    const root = scanner.isAtEnd ? undefined : scanner.readValue(0);
    scanner.skipSpace();
    if (!scanner.isAtEnd) scanner.fail('unexpected text after the end');
    return { ok: true, root };
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const before = text.slice(0, error.at).split('\n');
    return { ok: false, what: error.message, line: before.length, column: (before.at(-1) ?? '').length + 1 };
  }
}

class NotJson extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

class Scanner {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\uFEFF') ? 1 : 0;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  fail(message: string): never {
    throw new NotJson(message, this.#at);
  }

  skipSpace(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }

  readValue(depth: number): JsonNode {
    if (depth > MOST_LEVELS) this.fail('nested too deeply');
    const first = this.#text[this.#at];
    if (first === '{') return this.#readContainer('object', '}', depth);
    if (first === '[') return this.#readContainer('array', ']', depth);
    return this.#readScalar();
  }

  #readContainer(kind: 'object' | 'array', close: string, depth: number): JsonContainer {
    const start = this.#at++;
    const children: JsonChild[] = [];
    for (;;) {
      this.skipSpace();
      if (this.#text[this.#at] === close) return { kind, start, end: ++this.#at, children };
      if (children.length > 0 && children.at(-1)?.comma === undefined) this.fail(`expected a comma or ${close}`);
      children.push(this.#readChild(kind, depth));
    }
  }

  #readChild(kind: 'object' | 'array', depth: number): JsonChild {
    const start = this.#at;
    let key = '';
    if (kind === 'object') {
      const name = this.#readScalar();
      if (typeof name.value !== 'string') this.fail('expected a name in double quotes');
      key = name.value;
      this.skipSpace();
      if (this.#text[this.#at++] !== ':') this.fail('expected a colon');
      this.skipSpace();
    }
    const value = this.readValue(depth + 1);
    this.skipSpace();
    const comma = this.#text[this.#at] === ',' ? this.#at++ : undefined;
    return { start, end: value.end, key, value, comma };
  }

  #readScalar(): JsonScalar {
    SCALAR.lastIndex = this.#at;
    const [raw = ''] = SCALAR.exec(this.#text) ?? [];
    try {
      const value: unknown = JSON.parse(raw);
      const start = this.#at;
      this.#at += raw.length;
      return { kind: 'scalar', start, end: this.#at, value };
    } catch {
      return this.fail(raw === '' ? 'expected a value' : 'not a JSON value');
    }
  }
}

const SPACE = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[^]*?\*\/)*/y;
const SCALAR = /"(?:[^"\\]|\\.)*"|[-+.\w]+/y;

export function valueOf(node: JsonNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'array') return node.children.map(({ value }) => valueOf(value));
  return Object.fromEntries(node.children.map(({ key, value }) => [key, valueOf(value)]));
}

/** The last member of that name, because JSON parsers let the last one win. */
export function memberOf(node: JsonNode | undefined, key: string): JsonChild | undefined {
  return node?.kind === 'object' ? node.children.findLast((child) => child.key === key) : undefined;
}

const MOST_LEVELS = 100;
