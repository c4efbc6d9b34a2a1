export interface TomlLocation {
  /** The offset of a table's header, or of the first character of a value. */
  readonly at: number;
  /** For a table, the offset at which a missing field would be added; otherwise the end of the value. */
  end: number;
  readonly fields: Map<string, { readonly keyAt: number; readonly place: TomlLocation }>;
  readonly items: TomlLocation[];
}

/**
 * Locates keys and values. The library has validated the text, so this parser is minimal and never fails; for invalid
 * text the result is incomplete.
 */
export function locateToml(text: string): TomlLocation {
  const root = locationAt(0, 0);
  const cursor: Cursor = { text, at: 0 };
  let table = root;
  for (skipBlanks(cursor); cursor.at < text.length; skipBlanks(cursor)) {
    const before = cursor.at;
    if (text[cursor.at] === '[') table = readHeader(cursor, root);
    else readPair(cursor, table);
    // Guarantees that the loop ends.
    if (cursor.at === before) cursor.at += 1;
  }
  return root;
}

interface Cursor {
  readonly text: string;
  at: number;
}

interface Key {
  readonly name: string;
  readonly at: number;
}

function locationAt(at: number, end: number): TomlLocation {
  return { at, end, fields: new Map(), items: [] };
}

/** Reads a header: `[a.b]` continues or starts a table; `[[a.b]]` starts a new item of a list. */
function readHeader(cursor: Cursor, root: TomlLocation): TomlLocation {
  const start = cursor.at;
  const isItem = cursor.text[start + 1] === '[';
  cursor.at += isItem ? 2 : 1;
  const keys = readKeys(cursor);
  cursor.at = endOfLine(cursor);
  const last = keys.pop();
  if (last === undefined) return root;
  const parent = descend(root, keys);
  if (isItem) {
    const list = childOf(parent, last, start);
    const item = locationAt(start, start);
    list.items.push(item);
    return item;
  }
  return newest(childOf(parent, last, start));
}

/** The table at a path, created if missing; for a list, its newest item. */
function descend(from: TomlLocation, keys: readonly Key[]): TomlLocation {
  return keys.reduce((table, key) => newest(childOf(table, key, key.at)), from);
}

function newest(place: TomlLocation): TomlLocation {
  return place.items.at(-1) ?? place;
}

function childOf(table: TomlLocation, key: Key, at: number): TomlLocation {
  const known = table.fields.get(key.name)?.place;
  if (known !== undefined) return known;
  const place = locationAt(at, at);
  table.fields.set(key.name, { keyAt: key.at, place });
  return place;
}

function readPair(cursor: Cursor, table: TomlLocation): void {
  const keys = readKeys(cursor);
  const last = keys.pop();
  if (cursor.text[cursor.at] === '=') cursor.at += 1;
  skipSpaces(cursor);
  const value = readValue(cursor);
  if (last !== undefined) descend(table, keys).fields.set(last.name, { keyAt: last.at, place: value });
}

const BARE_KEY = /[^\s.=\]"'#{},]+/y;

function readKeys(cursor: Cursor): Key[] {
  const keys: Key[] = [];
  for (;;) {
    skipSpaces(cursor);
    const at = cursor.at;
    const quote = cursor.text[at];
    if (quote === '"' || quote === "'") {
      skipString(cursor);
      const raw = cursor.text.slice(at + 1, cursor.at - 1);
      keys.push({ name: quote === '"' ? unescape(raw) : raw, at });
    } else {
      BARE_KEY.lastIndex = at;
      const name = BARE_KEY.exec(cursor.text)?.[0];
      if (name === undefined) return keys;
      cursor.at += name.length;
      keys.push({ name, at });
    }
    skipSpaces(cursor);
    if (cursor.text[cursor.at] !== '.') return keys;
    cursor.at += 1;
  }
}

const ESCAPES: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b' };

function unescape(raw: string): string {
  return raw.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))/g, (_, ...found: string[]) => {
    const [u, U, x, simple = ''] = found;
    const code = Number.parseInt(u ?? U ?? x ?? '', 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : (ESCAPES[simple] ?? simple);
  });
}

function readValue(cursor: Cursor): TomlLocation {
  const place = locationAt(cursor.at, cursor.at);
  switch (cursor.text[cursor.at]) {
    case '"':
    case "'":
      skipString(cursor);
      break;
    case '[':
      readItems(cursor, place);
      break;
    case '{':
      readInlineTable(cursor, place);
      break;
    default:
      skipScalar(cursor);
  }
  // A missing field would be added at the closing brace.
  place.end = cursor.text[place.at] === '{' ? Math.max(place.at, cursor.at - 1) : cursor.at;
  return place;
}

function readItems(cursor: Cursor, list: TomlLocation): void {
  cursor.at += 1;
  for (skipBlanks(cursor); cursor.at < cursor.text.length && cursor.text[cursor.at] !== ']'; skipBlanks(cursor)) {
    if (cursor.text[cursor.at] === ',') cursor.at += 1;
    else list.items.push(readValue(cursor));
  }
  cursor.at += 1;
}

function readInlineTable(cursor: Cursor, table: TomlLocation): void {
  cursor.at += 1;
  for (skipBlanks(cursor); cursor.at < cursor.text.length && cursor.text[cursor.at] !== '}'; skipBlanks(cursor)) {
    const before = cursor.at;
    if (cursor.text[cursor.at] === ',') cursor.at += 1;
    else readPair(cursor, table);
    if (cursor.at === before) cursor.at += 1;
  }
  cursor.at += 1;
}

const SCALAR = /[^,\]}\n#]*[^,\]}\n#\s]/y;

/** Skips a number, word or date, which may contain a space. Consumes at least one character. */
function skipScalar(cursor: Cursor): void {
  SCALAR.lastIndex = cursor.at;
  cursor.at += SCALAR.exec(cursor.text)?.[0].length ?? 1;
}

function skipString(cursor: Cursor): void {
  const { text, at } = cursor;
  const quote = text[at] ?? '';
  const isLong = text.startsWith(quote.repeat(3), at);
  const close = isLong ? quote.repeat(3) : quote;
  let end = at + close.length;
  for (; end < text.length && !text.startsWith(close, end); end++) {
    if (quote === '"' && text[end] === '\\') end += 1;
  }
  end += close.length;
  // A long string may end with one or two quotes of its content.
  for (let more = 0; isLong && more < 2 && text[end] === quote; more++) end += 1;
  cursor.at = Math.min(end, text.length);
}

function skipSpaces(cursor: Cursor): void {
  while (cursor.text[cursor.at] === ' ' || cursor.text[cursor.at] === '\t') cursor.at += 1;
}

function skipBlanks(cursor: Cursor): void {
  for (;;) {
    skipSpaces(cursor);
    const character = cursor.text[cursor.at];
    if (character === '#') cursor.at = endOfLine(cursor);
    else if (character === '\n' || character === '\r') cursor.at += 1;
    else return;
  }
}

function endOfLine({ text, at }: Cursor): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
