import { type Document, isMap, isNode, isScalar, isSeq, type Node, parseDocument, visit } from 'yaml';
import { matchesGlob } from '../../protocol/code-files/match-path.ts';

/** What may change in CI and pre-commit configuration without changing a command. `*` is every name or item. */
interface QuietFields {
  readonly files: readonly string[];
  /** Fields that name a dependency at a version, with the value up to the version. */
  readonly uses: readonly string[];
  readonly name: RegExp;
  /** Fields whose value, or each item of it, is a version alone. */
  readonly versions: readonly string[];
  /** Fields whose value has a number of a version in it: `modules-v7-…`. */
  readonly keys: readonly string[];
  /** Fields with a number or a flag that only limits how long and how often something runs. */
  readonly limits: readonly string[];
}

const NAME_OF_ACTION = /^(?:[\w.-]+\/){1,9}[\w.-]+@/;
const INPUTS = [
  ...['python', 'node', 'go', 'java', 'ruby', 'php', 'dotnet', 'deno', 'bun'].map((tool) => `with.${tool}-version`),
  'with.toolchain',
];

const QUIET_FIELDS: readonly QuietFields[] = [
  {
    files: ['.github/workflows/*', '.forgejo/workflows/*', '.gitea/workflows/*'],
    uses: ['jobs.*.uses', 'jobs.*.steps.*.uses'],
    name: NAME_OF_ACTION,
    versions: [
      'jobs.*.strategy.matrix.*',
      'jobs.*.strategy.matrix.include.*.*',
      ...INPUTS.map((input) => `jobs.*.steps.*.${input}`),
    ],
    keys: ['jobs.*.steps.*.with.key'],
    limits: [
      'jobs.*.strategy.fail-fast',
      'jobs.*.strategy.max-parallel',
      'jobs.*.timeout-minutes',
      'jobs.*.steps.*.timeout-minutes',
    ],
  },
  {
    files: ['.github/actions/**', '.forgejo/actions/**', '.gitea/actions/**'],
    uses: ['runs.steps.*.uses'],
    name: NAME_OF_ACTION,
    versions: INPUTS.map((input) => `runs.steps.*.${input}`),
    keys: ['runs.steps.*.with.key'],
    limits: [],
  },
  {
    files: ['.pre-commit-config.yaml', '.pre-commit-config.yml'],
    uses: ['repos.*.rev'],
    name: /^/,
    versions: [],
    keys: [],
    limits: [],
  },
];

export function mayChangeQuietly(path: string): boolean {
  return findFields(path) !== undefined;
}

/**
 * Reports whether two texts run the same commands of the same dependencies: they differ only in versions of what both
 * name (`uses: owner/action@VERSION`, `rev: VERSION`, versions in a matrix or of a tool, the number in a cache's key),
 * in limits, and in lines that are comments. A version replaces a version, and a commit a commit; a branch is neither.
 * Everything else must be equal to the byte, so no reader of YAML can find another difference.
 */
export function changesNoCommand(path: string, before: string, after: string): boolean {
  const fields = findFields(path);
  if (fields === undefined || before === after) return false;
  try {
    const was = withoutQuietParts(before, fields);
    return was !== undefined && was === withoutQuietParts(after, fields);
  } catch {
    // A text can be nested deeper than the stack.
    return false;
  }
}

function findFields(path: string): QuietFields | undefined {
  if (!/\.ya?ml$/i.test(path)) return undefined;
  return QUIET_FIELDS.find(({ files }) => files.some((glob) => matchesGlob(glob, path)));
}

/** A part of the text, and the placeholder that replaces it. */
interface Quiet {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** Undefined if the text has an error, an alias, or bytes that are no text, as the placeholders are. */
function withoutQuietParts(text: string, fields: QuietFields): string | undefined {
  const document = parseDocument(text);
  if (document.errors.length > 0 || hasAlias(document) || text.includes(MARK)) return undefined;
  const find = (paths: readonly string[]): readonly Node[] =>
    paths.flatMap((path) => nodesOf(document.contents, path.split('.')));
  const parts = [
    ...find(fields.uses).flatMap((node) => versionOf(text, node, fields.name)),
    ...find(fields.versions).flatMap((node) => plainVersions(text, node)),
    ...find(fields.keys).flatMap((node) => numberInKey(text, node)),
    ...find(fields.limits).flatMap((node) => lineOfLimit(text, node)),
    ...commentLines(text, document),
  ].toSorted((a, b) => a.start - b.start);
  let [rest, at] = ['', 0];
  for (const { start, end, by } of parts) {
    if (start < at) continue;
    rest += text.slice(at, start) + by;
    at = end;
  }
  return rest + text.slice(at);
}

const MARK = '\u{FFFD}';
const replaced = (what: string): string => `${MARK}${what}${MARK}`;

/** The version at the end of a value, with the comment behind it. */
function versionOf(text: string, node: Node, name: RegExp): readonly Quiet[] {
  if (!isScalar(node) || !node.range) return [];
  const [start, end] = node.range;
  const [, quote = '', value = ''] = /^(["']?)(.*)\1$/.exec(text.slice(start, end)) ?? [];
  const version = name.test(value) ? value.replace(name, '') : '';
  const kind = kindOf(version);
  if (kind === undefined) return [];
  const from = end - quote.length - version.length;
  return [{ start: from, end: end + commentAfter(text, end), by: replaced(kind) + quote }];
}

/** A version, or a list of nothing else. */
function plainVersions(text: string, node: Node): readonly Quiet[] {
  if (!isSeq(node)) return versionOf(text, node, /^/).filter(({ by }) => by.startsWith(replaced('version')));
  const isVersion = (item: unknown): boolean => isScalar(item) && kindOf(String(item.value)) === 'version' && !item.tag;
  if (!node.range || node.tag !== undefined || !node.items.every(isVersion) || node.items.length === 0) return [];
  const [start, end] = node.range;
  // Only one form: a list in brackets, or of one item a line.
  const form = /^\[[^\]#\n]*\]$|^-[^#\n]*(?:\r?\n *-[^#\n]*)*$/;
  const list = text.slice(start, end).trimEnd();
  return form.test(list) ? [{ start, end: start + list.length, by: replaced('versions') + list[0] }] : [];
}

function numberInKey(text: string, node: Node): readonly Quiet[] {
  if (!isScalar(node) || !node.range) return [];
  const found = /^[\w.-]*-v(\d+)-/.exec(text.slice(node.range[0], node.range[1]));
  if (found === null) return [];
  const end = node.range[0] + found[0].length - 1;
  return [{ start: end - (found[1] ?? '').length, end, by: replaced('number') }];
}

/** The whole line, since a limit may also be added or removed. */
function lineOfLimit(text: string, node: Node): readonly Quiet[] {
  if (!isScalar(node) || !node.range) return [];
  const start = text.lastIndexOf('\n', node.range[0]) + 1;
  const line = /^ *[\w-]+: +(?:true|false|\d+) *\r?\n/.exec(text.slice(start))?.[0];
  return line === undefined ? [] : [{ start, end: start + line.length, by: '' }];
}

/** The lines that are comments, and no part of a text such as a command. */
function commentLines(text: string, document: Document): readonly Quiet[] {
  const texts: (readonly [number, number])[] = [];
  visit(document, { Scalar: (_, { range }) => void (range && texts.push([range[0], range[1]])) });
  const lines = [...text.matchAll(COMMENT_LINE)].map(({ index, 0: line }) => ({ start: index, end: index + line.length, by: '' })); // prettier-ignore
  return lines.filter(({ start, end }) => !texts.some(([from, to]) => start < to && end > from));
}

/** A line that ends for every reader where it ends here: characters such as U+2028 end it for some. */
const COMMENT_LINE = /^[ \t]*#[^\p{Cc}\u{2028}\u{2029}\u{FEFF}]*\r?\n/gmu;

function commentAfter(text: string, at: number): number {
  return VERSION_COMMENT.exec(text.slice(at))?.[0].length ?? 0;
}

/** One word, also after `frozen:`. Its characters cannot end the line for any reader, as U+2028 does for some. */
const VERSION_COMMENT = /^[ \t]+#[ \t]*(?:frozen:[ \t]+)?[\w.@/:=+-]+(?=\r?\n|$)/;

function kindOf(version: string): 'commit' | 'version' | undefined {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(version)) return 'commit';
  return /^v?\d[\w.+-]*$/i.test(version) ? 'version' : undefined;
}

function hasAlias(document: Document): boolean {
  let found = false;
  visit(document, { Alias: () => ((found = true), visit.BREAK) });
  return found;
}

/** The values at a path. */
function nodesOf(node: unknown, [name, ...rest]: readonly string[]): readonly Node[] {
  if (name === undefined) return isNode(node) ? [node] : [];
  if (isSeq(node)) return name === '*' ? node.items.flatMap((item) => nodesOf(item, rest)) : [];
  if (!isMap(node)) return [];
  const pairs = node.items.filter(({ key }) => name === '*' || (isScalar(key) && key.value === name));
  return pairs.flatMap(({ value }) => nodesOf(value, rest));
}
