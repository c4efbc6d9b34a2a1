import { type Document, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { matchesGlob } from '../../protocol/code-files/match-path.ts';

/** Fields of CI and pre-commit configuration that name a dependency at a version. `*` is every name or item. */
interface VersionFields {
  readonly files: readonly string[];
  readonly fields: readonly string[];
  /** The value up to the version. */
  readonly name: RegExp;
}

const VERSION_FIELDS: readonly VersionFields[] = [
  {
    files: ['.github/workflows/*', '.forgejo/workflows/*', '.gitea/workflows/*'],
    fields: ['jobs.*.uses', 'jobs.*.steps.*.uses'],
    name: /^(?:[\w.-]+\/){1,9}[\w.-]+@/,
  },
  {
    files: ['.github/actions/**', '.forgejo/actions/**', '.gitea/actions/**'],
    fields: ['runs.steps.*.uses'],
    name: /^(?:[\w.-]+\/){1,9}[\w.-]+@/,
  },
  { files: ['.pre-commit-config.yaml', '.pre-commit-config.yml'], fields: ['repos.*.rev'], name: /^/ },
];

export function mayNameVersions(path: string): boolean {
  return findFields(path) !== undefined;
}

/**
 * Reports whether two texts differ only in versions of dependencies that both name: `uses: owner/action@VERSION` and
 * `rev: VERSION`, each with the comment behind it. A version replaces a version, and a commit a commit; a branch is
 * neither. Everything else must be equal to the byte, so no reader of YAML can find another difference.
 */
export function changesOnlyVersions(path: string, before: string, after: string): boolean {
  const fields = findFields(path);
  if (fields === undefined || before === after) return false;
  try {
    const was = withoutVersions(before, fields);
    return was !== undefined && was === withoutVersions(after, fields);
  } catch {
    // A text can be nested deeper than the stack.
    return false;
  }
}

function findFields(path: string): VersionFields | undefined {
  if (!/\.ya?ml$/i.test(path)) return undefined;
  return VERSION_FIELDS.find(({ files }) => files.some((glob) => matchesGlob(glob, path)));
}

/** The text with a placeholder for each version; undefined if it has an error, an alias, or bytes that are no text. */
function withoutVersions(text: string, { fields, name }: VersionFields): string | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0 || hasAlias(document) || text.includes('\u{FFFD}')) return undefined;
  const parts: (string | VersionKind)[] = [];
  let at = 0;
  const ranges = fields.flatMap((field) => rangesOf(document.contents, field.split('.')));
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const [, quote = '', value = ''] = /^(["']?)(.*)\1$/.exec(text.slice(start, end)) ?? [];
    const version = name.test(value) ? value.replace(name, '') : '';
    const kind = kindOf(version);
    if (kind === undefined) continue;
    const until = end - quote.length;
    parts.push(text.slice(at, until - version.length), kind, quote);
    at = end + (VERSION_COMMENT.exec(text.slice(end))?.[0].length ?? 0);
  }
  return JSON.stringify([...parts, text.slice(at)]);
}

/** One word, also after `frozen:`. Its characters cannot end the line for any reader, as U+2028 does for some. */
const VERSION_COMMENT = /^[ \t]+#[ \t]*(?:frozen:[ \t]+)?[\w.@/:=+-]+(?=\r?\n|$)/;

type VersionKind = { readonly kind: 'commit' | 'version' };

function kindOf(version: string): VersionKind | undefined {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(version)) return { kind: 'commit' };
  return /^v?\d[\w.+-]*$/i.test(version) ? { kind: 'version' } : undefined;
}

function hasAlias(document: Document): boolean {
  let found = false;
  visit(document, { Alias: () => ((found = true), visit.BREAK) });
  return found;
}

/** Where the texts of a field's values begin and end. */
function rangesOf(node: unknown, [name, ...rest]: readonly string[]): readonly (readonly [number, number])[] {
  if (name === undefined) return isScalar(node) && node.range ? [[node.range[0], node.range[1]]] : [];
  if (isSeq(node)) return name === '*' ? node.items.flatMap((item) => rangesOf(item, rest)) : [];
  if (!isMap(node)) return [];
  const pairs = node.items.filter(({ key }) => name === '*' || (isScalar(key) && key.value === name));
  return pairs.flatMap(({ value }) => rangesOf(value, rest));
}
