import type { TestedDialect } from './dialects.ts';

/** A text that must be refused, if possible derived from a valid message. */
export interface HostileText {
  readonly name: string;
  /** A part of the expected problem; absent if dialects have different ones. */
  readonly says?: string;
  readonly make: (valid: HostileSeed) => string | Uint8Array;
}

export interface HostileSeed {
  /** A valid message as one JSON object. */
  readonly json: string;
  /** The name of one of its text fields. */
  readonly field: string;
}

const DEEP = 10_000;
const MEGABYTE = 1_048_576;

/** Long enough that a parser with quadratic time takes many seconds. */
const LARGE = 120_000;

export const HOSTILE_JSON: readonly HostileText[] = [
  { name: 'a duplicate key', says: 'duplicate field', make: ({ json, field }) => `{"${field}":"x",${json.slice(1)}` },
  {
    name: 'a duplicate key, escaped',
    says: 'duplicate field',
    make: ({ json, field }) => `{"${escaped(field)}":"x",${json.slice(1)}`,
  },
  {
    name: '__proto__',
    says: 'field name `__proto__` is not allowed',
    make: ({ json }) => `{"__proto__":{"polluted":true},${json.slice(1)}`,
  },
  {
    name: '__proto__, escaped',
    says: 'field name `__proto__` is not allowed',
    make: ({ json }) => `{"${escaped('__proto__')}":{},${json.slice(1)}`,
  },
  { name: 'constructor', says: 'nknown field', make: ({ json }) => `{"constructor":{"prototype":{}},${json.slice(1)}` },
  { name: 'toString', says: 'nknown field', make: ({ json }) => `{"toString":"x",${json.slice(1)}` },
  { name: 'hasOwnProperty', says: 'nknown field', make: ({ json }) => `{"hasOwnProperty":null,${json.slice(1)}` },
  { name: 'a lone surrogate', says: 'lone surrogate', make: ({ json, field }) => withValue(json, field, '"a\ud800b"') },
  {
    name: 'an escaped lone surrogate',
    says: 'lone surrogate',
    make: ({ json, field }) => withValue(json, field, '"a\\ud800b"'),
  },
  {
    name: 'surrogates in the wrong order',
    says: 'lone surrogate',
    make: ({ json, field }) => withValue(json, field, '"\\ude00\\ud83d"'),
  },
  { name: 'a lone surrogate in a key', says: 'lone surrogate', make: ({ json }) => `{"\\udfff":1,${json.slice(1)}` },
  {
    name: 'lists nested 10,000 deep',
    says: 'nesting deeper than 32 levels',
    make: () => '['.repeat(DEEP) + ']'.repeat(DEEP),
  },
  { name: 'objects nested 10,000 deep', make: () => '{"a":'.repeat(DEEP) + '1' + '}'.repeat(DEEP) },
  {
    name: 'a field nested 10,000 deep',
    says: 'nesting deeper than 32 levels',
    make: ({ json }) => `{"x":${'['.repeat(DEEP)}${']'.repeat(DEEP)},${json.slice(1)}`,
  },
  { name: 'lists that are never closed', make: () => '['.repeat(LARGE) },
  {
    name: 'a string of 1 MB',
    says: 'input too large: ',
    make: ({ json, field }) => withValue(json, field, `"${'x'.repeat(MEGABYTE)}"`),
  },
  {
    name: 'a key of 1 MB',
    says: 'input too large: ',
    make: ({ json }) => `{"${'k'.repeat(MEGABYTE)}":1,${json.slice(1)}`,
  },
  { name: 'a long key', says: 'nknown field', make: ({ json }) => `{"${'k'.repeat(60_000)}":1,${json.slice(1)}` },
  { name: 'a long number', make: ({ json }) => `{"x":${'1'.repeat(60_000)},${json.slice(1)}` },
  { name: 'a number out of range', says: 'number out of range', make: ({ json }) => `{"x":1e999,${json.slice(1)}` },
  { name: '1 MB of spaces', says: 'input too large: ', make: ({ json }) => json + ' '.repeat(MEGABYTE) },
  { name: '1 MB of brackets', make: () => '[]'.repeat(MEGABYTE / 2) },
  {
    name: 'a NUL byte in a string',
    says: 'control character',
    make: ({ json, field }) => withValue(json, field, '"a\0b"'),
  },
  { name: 'a NUL byte after the end', make: ({ json }) => `${json}\0` },
  { name: 'a NUL byte before the start', make: ({ json }) => `\0${json}` },
  { name: 'two byte order marks', make: ({ json }) => `\ufeff\ufeff${json}` },
  { name: 'a byte order mark at the end', make: ({ json }) => `${json}\ufeff` },
  {
    name: 'UTF-16',
    says: 'not valid UTF-8',
    make: ({ json }) => new Uint8Array(Buffer.from(`\ufeff${json}`, 'utf16le')),
  },
  {
    name: 'bytes that are not UTF-8',
    says: 'not valid UTF-8',
    make: ({ json }) => bytesOf(json.slice(0, -1), [0x2c, 0x22, 0xc3, 0x28, 0x22]),
  },
  {
    name: 'an overlong slash',
    says: 'not valid UTF-8',
    make: ({ json, field }) => bytesOf(`{"${field}":"`, [0xc0, 0xaf], json),
  },
  {
    name: 'an encoded surrogate',
    says: 'not valid UTF-8',
    make: ({ json, field }) => bytesOf(`{"${field}":"`, [0xed, 0xa0, 0x80], json),
  },
  { name: '60,000 keys', make: () => `{${Array.from({ length: 60_000 }, (_, i) => `"${i.toString(36)}":1`).join()}}` },
  { name: 'the same key 10,000 times', says: 'duplicate field `a`', make: () => `{${'"a":1,'.repeat(10_000)}"a":1}` },
  { name: 'a comment', says: 'trailing characters', make: ({ json }) => `${json}// done` },
  { name: 'a trailing comma', make: ({ json }) => `${json.slice(0, -1)},}` },
  { name: 'single quotes', make: ({ json }) => json.replaceAll('"', "'") },
  { name: 'two messages', says: 'trailing characters', make: ({ json }) => `${json}\n${json}` },
  { name: 'a message in a list', make: ({ json }) => `[${json}]` },
  { name: 'a message in a string', make: ({ json }) => JSON.stringify(json) },
  { name: 'half a message', make: ({ json }) => json.slice(0, json.length / 2) },
  { name: 'escapes without end', make: ({ field }) => `{"${field}":"${'\\"'.repeat(30_000)}` },
  {
    name: 'escapes that are none',
    says: 'invalid escape',
    make: ({ field }) => `{"${field}":"${'\\q'.repeat(30_000)}"}`,
  },
  { name: 'a huge number of colons', make: () => `{"a"${':'.repeat(60_000)}` },
];

export const HOSTILE_YAML: readonly HostileText[] = [
  { name: 'a duplicate key', says: 'duplicate field', make: yaml((field) => `${field}: x`) },
  { name: 'a duplicate key in quotes', says: 'duplicate field', make: yaml((field) => `"${field}": x`) },
  { name: '__proto__', says: 'field name `__proto__` is not allowed', make: yaml(() => '__proto__: {polluted: true}') },
  { name: 'constructor', says: 'Unknown field: constructor', make: yaml(() => 'constructor: x') },
  { name: 'an anchor', says: 'anchor `&a` is not allowed', make: yaml(() => 'x: &a b') },
  { name: 'an anchor and an alias', says: 'anchor `&a` is not allowed', make: yaml(() => 'x: &a b\ny: *a') },
  { name: 'an alias to nothing', says: 'alias `*a` is not allowed', make: yaml(() => 'x: *a') },
  { name: 'an alias as a key', make: yaml(() => '*a : x') },
  { name: 'a merge key', says: 'merge key `<<` is not allowed', make: yaml(() => '<<: {a: b}') },
  { name: 'a merge key with an alias', make: yaml(() => 'x: &a {b: c}\n<<: *a') },
  {
    name: 'billion laughs',
    says: 'anchor `&a0` is not allowed',
    make: () =>
      laughs(
        (i) =>
          `[${Array(9)
            .fill(`*a${i - 1}`)
            .join()}]`,
      ),
  },
  {
    name: 'a merge bomb',
    says: 'anchor `&a0` is not allowed',
    make: () =>
      laughs(
        (i) =>
          `{<<: [${Array(9)
            .fill(`*a${i - 1}`)
            .join()}]}`,
      ),
  },
  { name: 'an anchor on itself', says: 'anchor `&a` is not allowed', make: () => 'a: &a [*a]' },
  {
    name: '!!js/function',
    says: 'tag `tag:yaml.org,2002:js/function` is not allowed',
    make: yaml(() => "x: !!js/function 'function () { return 1 }'"),
  },
  { name: '!!binary', says: 'tag `tag:yaml.org,2002:binary` is not allowed', make: yaml(() => 'x: !!binary aGVsbG8=') },
  { name: '!!str', says: 'tag `tag:yaml.org,2002:str` is not allowed', make: yaml((field) => `x: !!str ${field}`) },
  { name: 'a tag of its own', says: 'tag `!thing` is not allowed', make: yaml(() => 'x: !thing {a: b}') },
  { name: 'a tag on a key', says: 'tag `tag:yaml.org,2002:str` is not allowed', make: yaml(() => '!!str x: y') },
  { name: 'several documents', says: 'more than one document', make: ({ json }) => `--- ${json}\n--- ${json}\n` },
  {
    name: 'something after the end of the document',
    says: 'more than one document',
    make: ({ json }) => `--- ${json}\n...\na: b\n`,
  },
  {
    name: 'a YAML 1.1 directive',
    says: 'directive `%YAML 1.1` is not allowed',
    make: ({ json }) => `%YAML 1.1\n--- ${json}\n`,
  },
  { name: 'a TAG directive', says: 'directive', make: ({ json }) => `%TAG ! tag:evil,2026:\n--- ${json}\n` },
  {
    name: 'an unknown directive',
    says: 'directive `%EVIL x` is not allowed',
    make: ({ json }) => `%EVIL x\n--- ${json}\n`,
  },
  {
    name: 'flow lists nested 10,000 deep',
    says: 'nesting deeper than 32 levels',
    make: () => `x: ${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  },
  {
    name: 'flow maps nested 10,000 deep',
    says: 'nesting deeper than 32 levels',
    make: () => `x: ${'{a: '.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
  },
  {
    name: 'compact lists nested 10,000 deep',
    says: 'nesting deeper than 32 levels',
    make: () => `${'- '.repeat(DEEP)}x`,
  },
  {
    name: 'compact maps nested 10,000 deep',
    says: 'nesting deeper than 32 levels',
    make: () => `${'? '.repeat(DEEP)}x`,
  },
  {
    name: 'block lists nested 600 deep',
    says: 'nesting deeper than 32 levels',
    make: () => lines(600, (i) => `${' '.repeat(i)}-`),
  },
  {
    name: 'block maps nested 600 deep',
    says: 'nesting deeper than 32 levels',
    make: () => lines(600, (i) => `${' '.repeat(i)}a:`),
  },
  { name: 'a string of 1 MB', says: 'input too large: ', make: yaml(() => `x: ${'x'.repeat(MEGABYTE)}`) },
  { name: 'a block of 1 MB', says: 'input too large: ', make: yaml(() => `x: |\n${'  x\n'.repeat(MEGABYTE / 4)}`) },
  { name: 'a NUL byte', says: 'control character', make: yaml((field) => `x: ${field}\0`) },
  { name: 'an escape character', says: 'control character', make: yaml(() => 'x: "\u001b[31m"') },
  { name: 'a lone surrogate', says: 'lone surrogate', make: yaml(() => 'x: "\ud800"') },
  { name: 'an escaped lone surrogate', says: 'lone surrogate', make: yaml(() => 'x: "\\ud800"') },
  { name: 'an impossible code point', make: yaml(() => 'x: "\\UFFFFFFFF"') },
  { name: 'an unknown escape', make: yaml(() => 'x: "\\q"') },
  { name: 'two byte order marks', says: 'byte order mark', make: ({ json }) => `\ufeff\ufeff--- ${json}` },
  { name: 'bytes that are not UTF-8', says: 'not valid UTF-8', make: () => bytesOf('x: ', [0xff, 0xfe]) },
  { name: '60,000 keys', make: () => lines(60_000, (i) => `${i.toString(36)}:`) },
  { name: 'the same key 40,000 times', make: () => 'a: 1\n'.repeat(40_000) },
  { name: 'a flood of comments', says: 'more than 100000 words and signs', make: () => '#\n'.repeat(LARGE / 2) },
  { name: 'a flood of comments inside', make: () => `a:\n${'  #\n'.repeat(LARGE / 4)}  b` },
  { name: 'a flood of blank lines', make: () => `a:${'\n'.repeat(LARGE)} b` },
  { name: 'a flood of commas', says: 'more than 100000 words and signs', make: () => `a: [${','.repeat(LARGE)}]` },
  { name: 'a flood of brackets', make: () => `a: ${']'.repeat(LARGE)}` },
  { name: 'a flood of empty lists', make: () => `a: [${'[],'.repeat(LARGE / 3)}]` },
  { name: 'a flood of documents', make: () => '---\n'.repeat(LARGE / 4) },
  { name: 'a flood of directives', make: () => '%A\n'.repeat(LARGE / 3) },
  { name: 'a flood of anchors', make: () => '- &a b\n'.repeat(LARGE / 7) },
  { name: 'a flood of tags', make: () => '!!str '.repeat(LARGE / 6) },
  { name: 'a flood of wrong escapes', make: () => `a: "${'\\q'.repeat(LARGE / 2)}"` },
  { name: 'a flood of folded lines', make: () => `a: '${' \n'.repeat(LARGE / 2)}'` },
  { name: 'a flood of spaces in quotes', make: () => `a: 'x\n${' '.repeat(LARGE)}y'` },
  { name: 'a flood of spaces', make: () => `a: x${' '.repeat(LARGE)}y` },
  { name: 'a flood of tabs', make: () => `a: x${'\t'.repeat(LARGE)}y` },
  { name: 'a flood of dashes', make: () => '-'.repeat(LARGE) },
  { name: 'a very long key', make: () => `${'k'.repeat(LARGE)}: v` },
  { name: 'a very long number', make: () => `a: ${'1'.repeat(LARGE)}` },
  {
    name: 'tabs for indentation',
    says: 'Tabs are not allowed as indentation',
    make: () => 'context:\n\tepic_file: a\n',
  },
  { name: 'a list as a key', says: 'a field name must be text', make: yaml(() => '[a]: b') },
  { name: 'a map as a key', says: 'a field name must be text', make: yaml(() => '{a: b}: c') },
  { name: 'a quote that is never closed', make: yaml(() => 'x: "a') },
  { name: 'wrong indentation', make: () => 'a:\n    b: 1\n  c: 2\n' },
];

export function hostileTextsFor({ syntax }: TestedDialect): readonly HostileText[] {
  if (syntax === 'JSON') return HOSTILE_JSON;
  return [...HOSTILE_JSON, ...HOSTILE_YAML.map((text) => ({ ...text, name: `YAML: ${text.name}` }))];
}

/** The message in YAML's flow style, one field per line, followed by the wrong line. */
function yaml(line: (field: string) => string): HostileText['make'] {
  return ({ json, field }) => {
    const fields = Object.entries(JSON.parse(json) as Record<string, unknown>); // oxlint-disable-line typescript/no-unsafe-type-assertion
    const block = fields.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('');
    return `${block}${line(field)}\n`;
  };
}

function laughs(next: (i: number) => string): string {
  return lines(12, (i) => `a${i}: &a${i} ${i === 0 ? '{x: lol}' : next(i)}`);
}

function lines(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('');
}

function withValue(json: string, field: string, value: string): string {
  const { [field]: _, ...rest } = JSON.parse(json) as Record<string, unknown>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return `{"${field}":${value},${JSON.stringify(rest).slice(1)}`.replace(/,}$/, '}');
}

function escaped(name: string): string {
  return Array.from(name, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

function bytesOf(before: string, bytes: readonly number[], after = ''): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]));
}
