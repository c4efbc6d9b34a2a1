import { parse } from 'smol-toml';
import { removeRanges, lineEndOf, type Insertion } from './insertions.ts';
import { describeClash } from './describe-clash.ts';

/** One table that Baton adds, with the lines below its header. */
export interface TomlTable {
  /** `[mcp_servers.baton]`, `[[hooks.Stop]]`. */
  readonly header: string;
  readonly lines: readonly string[];
}

export type AppendedToml =
  | { readonly ok: true; readonly insertions: readonly Insertion[] }
  | { readonly ok: false; readonly what: string };

/**
 * Tables at the end of the file: there they change the meaning of nothing else. The mark, a comment, stands above each of them, since Codex
 * itself writes into its file: what it adds may come to lie between ours, and a comment moves with the table below it.
 */
export function appendToml(text: string, mark: string, tables: readonly TomlTable[]): AppendedToml {
  const lineEnd = lineEndOf(text);
  const added = tables.map(({ header, lines }) => ['', mark, header, ...lines, ''].join(lineEnd)).join('');
  const at = text.length;
  const isOpen = text !== '' && !text.endsWith('\n') && text !== '\uFEFF';
  // The first line of a file need not be empty.
  const piece = text === '' || text === '\uFEFF' ? added.slice(lineEnd.length) : `${isOpen ? lineEnd : ''}${added}`;
  const before = parseToml(text);
  if (!before.ok) return before;
  const headers = tables.map(({ header }) => header);
  const after = parseToml(text + piece);
  return after.ok
    ? { ok: true, insertions: [{ at, text: piece }] }
    : { ok: false, what: describeClash(text, headers, clash(headers, after.what)) };
}

/** The text without the tables below that mark, whatever has changed around them. */
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

/** The empty line before it, the mark, the header, and the lines below it up to the last one with a key. */
function markedTables(mark: string): RegExp {
  const before = String.raw`(?:(?<=\n|^)\r?\n)?(?<=\n|^|^\uFEFF)`;
  const table = String.raw`\r?\n[ \t]*\[[^\r\n]*(?:\r?\n[ \t]*[\w"'-][^\r\n]*)*(?:\r?\n|$)`;
  return new RegExp(`${before}${RegExp.escape(mark)}${table}`, 'g');
}

function clash(headers: readonly string[], what: string): string {
  return `${headers.join(', ')} cannot be added behind what is there (${what})`;
}

/** A text as TOML: a basic string escapes as JSON does. */
export function renderTomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`);
}
