import { parse, stringify } from 'smol-toml';
import { type Insertion, lineEndOf, removeRanges } from './insertions.ts';

export interface TomlTable {
  /** For example `[mcp_servers.baton]` or `[[hooks.Stop]]`. */
  readonly header: string;
  readonly lines: readonly string[];
}

export type AppendedToml =
  | { readonly ok: true; readonly insertions: readonly Insertion[] }
  | { readonly ok: false; readonly what: string };

/**
 * Appends tables at the end of the file, where they cannot change the meaning of other lines. A comment marks each of
 * them: Codex writes to its file too, and may insert text between our tables, but moves a comment together with the
 * table below it.
 */
export function appendToml(text: string, mark: string, tables: readonly TomlTable[]): AppendedToml {
  const lineEnd = lineEndOf(text);
  const added = tables.map(({ header, lines }) => ['', mark, header, ...lines, ''].join(lineEnd)).join('');
  const at = text.length;
  const isOpen = text !== '' && !text.endsWith('\n') && text !== '\uFEFF';
  // A file does not start with an empty line.
  const piece = text === '' || text === '\uFEFF' ? added.slice(lineEnd.length) : `${isOpen ? lineEnd : ''}${added}`;
  const before = parseToml(text);
  if (!before.ok) return before;
  const headers = tables.map(({ header }) => header);
  const after = parseToml(text + piece);
  return after.ok
    ? { ok: true, insertions: [{ at, text: piece }] }
    : { ok: false, what: describeClash(text, headers, after.what) };
}

/** Removes the tables below the mark, even if the text around them has changed. */
export function removeFromToml(text: string, mark: string): string {
  const cuts = [...text.matchAll(markedTables(mark))].map(({ index, 0: piece }): [number, number] => [
    index,
    index + piece.length,
  ]);
  return removeRanges(text, cuts);
}

export type ReadToml =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly what: string };

export function parseToml(text: string): ReadToml {
  try {
    return { ok: true, value: parse(text.replace(/^\uFEFF/, '')) };
  } catch (error) {
    return { ok: false, what: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}

/** The empty line before the mark, the mark, the header, and the lines up to the last one with a key. */
function markedTables(mark: string): RegExp {
  const before = String.raw`(?:(?<=\n|^)\r?\n)?(?<=\n|^|^\uFEFF)`;
  const table = String.raw`\r?\n[ \t]*\[[^\r\n]*(?:\r?\n[ \t]*[\w"'-][^\r\n]*)*(?:\r?\n|$)`;
  return new RegExp(`${before}${RegExp.escape(mark)}${table}`, 'g');
}

/** A TOML basic string escapes as JSON does. */
export function renderTomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`);
}

/**
 * Explains why tables cannot be appended, and what to write instead. TOML does not let a later header extend a table or
 * list that is written as a value (`hooks = { … }`, `Stop = [ … ]`). Codex accepts both forms, so the same settings
 * written with headers mean the same.
 */
function describeClash(text: string, headers: readonly string[], problem: string): string {
  const closed = new Map(
    headers
      .map((header) => findClosed(text, pathOf(header)))
      .filter((path) => path !== undefined)
      .map((path) => [path.join('.'), path]),
  );
  if (closed.size === 0) return `${headers.join(', ')} cannot be appended to the file (${problem})`;
  const parts = [...closed.values()].map((path) => describeClosed(text, path));
  return `${parts.join('\n')}\nThe meaning stays the same. Then Baton can add ${headers.join(', ')}.`;
}

function describeClosed(text: string, path: readonly string[]): string {
  const name = path.join('.');
  const line = lineOf(text, path);
  const place = line === undefined ? name : `line ${line}: ${name}`;
  const whole = path.reduceRight<unknown>((inside, key) => ({ [key]: inside }), valueIn(text, path));
  const instead = stringify(whole).trim();
  return `${place} is written as a value, and no table can be added to it. Delete it there, and write at the end of the file:\n${instead}`;
}

/** The outermost part of a path that is written as a value; undefined if none is. */
function findClosed(text: string, path: readonly string[]): readonly string[] | undefined {
  for (let length = 1; length <= path.length; length += 1) {
    const part = path.slice(0, length);
    const isLast = length === path.length;
    const probe = isLast ? `[[${headerOf(part)}]]` : `[${headerOf([...part, 'baton_probe'])}]`;
    if (valueIn(text, part) !== undefined && !parseToml(`${text}\n${probe}\n`).ok) return part;
  }
  return undefined;
}

function valueIn(text: string, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => Object(found)[key], parse(text.replace(/^\uFEFF/, '')));
}

/** `[[hooks.Stop]]` → hooks, Stop; the parts may be quoted. */
function pathOf(header: string): readonly string[] {
  return keysIn(header.replace(/^\s*\[{1,2}/, '').replace(/\]{1,2}\s*$/, ''));
}

function keysIn(dotted: string): readonly string[] {
  const keys = dotted.matchAll(/\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+))\s*(?:\.|$)/gy);
  return [...keys].map(([, basic, literal, bare]) => basic ?? literal ?? bare ?? '');
}

function headerOf(path: readonly string[]): string {
  return path.map((key) => JSON.stringify(key)).join('.');
}

/** The line number of a value; undefined if it is set in several places or cannot be found. */
function lineOf(text: string, path: readonly string[]): number | undefined {
  let table: readonly string[] = [];
  const wanted = path.join('.');
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*\[/.test(line)) table = pathOf(line.replace(/#.*$/, '').trim());
    const key = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+|\s*\.\s*)+)\s*=/.exec(line.replace(/^\uFEFF/, ''))?.[1];
    if (key !== undefined && [...table, ...keysIn(key.trim())].join('.') === wanted) return i + 1;
  }
  return undefined;
}
