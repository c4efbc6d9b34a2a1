import type { Random } from './random.ts';

/** Snippets that have broken parsers before; they are inserted into valid messages. */
const SNIPPETS = [
  '__proto__',
  '"__proto__":{"a":1},',
  'constructor: x\n',
  '\\ud800',
  '\\u0000',
  '\\x00',
  '\u0000',
  '\ufeff',
  '\u2028',
  '\u0085',
  '\u007f',
  '\u001b[31m',
  '\r',
  '\r\n',
  '\n',
  '\n\n',
  '\n  ',
  '\t',
  ' ',
  '&a ',
  '*a',
  '<<: *a\n',
  '!!binary ',
  '!!js/function ',
  '---\n',
  '...\n',
  '%YAML 1.1\n---\n',
  '# ',
  '#',
  '|\n',
  '>-\n',
  '? ',
  ': ',
  '- ',
  '- - - ',
  '[',
  ']',
  '{',
  '}',
  '{}',
  '[]',
  ',',
  '"',
  "'",
  '\\',
  '\\"',
  '""',
  'null',
  '~',
  'true',
  'no',
  '-0',
  '1e5',
  '1e999',
  '.inf',
  '0x1F',
  '012',
  '-',
  '😀',
  'é',
  '\u{10ffff}',
  '../',
  '/etc/passwd',
  '$(id)',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '<![CDATA[',
  ']]>',
  '&lt;',
  '&#0;',
  '</',
  '<a>',
];

const encoder = new TextEncoder();
const TOKENS = SNIPPETS.map((snippet) => encoder.encode(snippet));

type Change = (bytes: Uint8Array, random: Random, other: Uint8Array) => Uint8Array;

const CHANGES: readonly Change[] = [
  flipBit,
  setByte,
  insertSnippet,
  insertSnippet,
  insertSnippet,
  replaceWithSnippet,
  deleteRange,
  duplicateRange,
  swapLines,
  spliceOther,
  truncate,
];

/**
 * Returns a valid message with one to six mutations. `other` is a message of another kind, from which pieces are taken.
 */
export function mutate(text: string, other: string, random: Random): Uint8Array {
  let bytes: Uint8Array = encoder.encode(text);
  const donor = encoder.encode(other);
  const changes = 1 + Math.min(random.below(6), random.below(6));
  for (let i = 0; i < changes; i++) bytes = random.pick(CHANGES)(bytes, random, donor);
  return bytes;
}

function flipBit(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length);
  return splice(bytes, at, at + 1, [(bytes[at] ?? 0) ^ (1 << random.below(8))]);
}

function setByte(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length);
  return splice(bytes, at, at + 1, [random.below(256)]);
}

function insertSnippet(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  return splice(bytes, at, at, random.pick(TOKENS));
}

function replaceWithSnippet(bytes: Uint8Array, random: Random): Uint8Array {
  const [from, to] = range(bytes, random, 24);
  return splice(bytes, from, to, random.pick(TOKENS));
}

function deleteRange(bytes: Uint8Array, random: Random): Uint8Array {
  const [from, to] = range(bytes, random, 40);
  return splice(bytes, from, to, []);
}

function duplicateRange(bytes: Uint8Array, random: Random): Uint8Array {
  const [from, to] = range(bytes, random, 200);
  return splice(bytes, to, to, bytes.subarray(from, to));
}

function swapLines(bytes: Uint8Array, random: Random): Uint8Array {
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const [a, b] = [random.below(lines.length), random.below(lines.length)];
  const line = lines[a] ?? '';
  lines[a] = lines[b] ?? '';
  lines[b] = line;
  return Buffer.from(lines.join('\n'), 'latin1');
}

function spliceOther(bytes: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  const [from, to] = range(other, random, 80);
  const at = random.below(bytes.length + 1);
  return splice(bytes, at, at, other.subarray(from, to));
}

function truncate(bytes: Uint8Array, random: Random): Uint8Array {
  return bytes.subarray(0, random.below(bytes.length + 1));
}

function range(bytes: Uint8Array, random: Random, longest: number): [from: number, to: number] {
  const from = random.below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + 1 + random.below(longest))];
}

function splice(bytes: Uint8Array, from: number, to: number, middle: ArrayLike<number>): Uint8Array {
  const result = new Uint8Array(from + middle.length + Math.max(0, bytes.length - to));
  result.set(bytes.subarray(0, from));
  result.set(middle, from);
  result.set(bytes.subarray(to), from + middle.length);
  return result;
}
