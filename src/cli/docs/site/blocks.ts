/** The blocks of Baton's Markdown subset: what the pages of `docs` use. A test renders every page. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'html'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string };

const ITEM = /^(?<mark>[-*]|\d+\.) +/;
const FENCE = /^```(?<language>\w*)/;
/** The only HTML allowed in pages, besides comments. */
const HTML = /^<\/?(?:details|summary)\b.*>$/;

export function parseBlocks(source: string): Block[] {
  return parseLines(source.replaceAll(/<!--[^]*?-->\n?/g, '').split('\n'));
}

function parseLines(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const taken = takeBlock(lines.slice(at));
    if (taken.block !== undefined) blocks.push(taken.block);
    at += taken.lines;
  }
  return blocks;
}

interface Taken {
  readonly lines: number;
  readonly block?: Block;
}

function takeBlock(lines: readonly string[]): Taken {
  const [first = ''] = lines;
  if (first.trim() === '') return { lines: 1 };
  const heading = /^(#{1,6}) (.*)$/.exec(first);
  if (heading !== null)
    return { lines: 1, block: { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' } };
  const fence = FENCE.exec(first);
  if (fence !== null) return takeFence(lines, fence.groups?.['language'] ?? '');
  if (HTML.test(first)) return { lines: 1, block: { kind: 'html', text: first } };
  if (first.startsWith('|')) return takeTable(lines);
  if (first.startsWith('    ')) return takeIndented(lines);
  return ITEM.test(first) ? takeList(lines) : takeParagraph(lines);
}

function takeFence(lines: readonly string[], language: string): Taken {
  const end = lines.findIndex((line, i) => i > 0 && line.startsWith('```'));
  const text = lines.slice(1, end === -1 ? undefined : end).join('\n');
  return { lines: end === -1 ? lines.length : end + 1, block: { kind: 'code', language, text } };
}

function takeTable(lines: readonly string[]): Taken {
  const rows = takeWhile(lines, (line) => line.startsWith('|'));
  const [head = [], , ...body] = rows.map(splitRow);
  return { lines: rows.length, block: { kind: 'table', head, rows: body } };
}

/** A `\|`, and a `|` in a code span, belong to the cell. */
function splitRow(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '').replace(/\|$/, '');
  return [...inner.matchAll(/(?:\\\||`[^`]*`|[^|])+|(?<=\|)(?=\|)/g)].map(([cell]) =>
    cell.trim().replaceAll('\\|', '|'),
  );
}

function takeIndented(lines: readonly string[]): Taken {
  const taken = takeWhile(lines, (line) => line.startsWith('    ') || line.trim() === '');
  const text = taken
    .map((line) => line.slice(4))
    .join('\n')
    .trimEnd();
  return { lines: taken.length, block: { kind: 'code', language: '', text } };
}

function takeList(lines: readonly string[]): Taken {
  const isOrdered = /^\d/.test(lines[0] ?? '');
  const items: Block[][] = [];
  let at = 0;
  while (at < lines.length) {
    const [marked] = ITEM.exec(lines[at] ?? '') ?? [];
    if (marked === undefined || /^\d/.test(marked) !== isOrdered) break;
    const isPart = (line: string, i: number): boolean =>
      i === 0 ||
      (line.trim() === ''
        ? (lines[at + i + 1] ?? '').startsWith('  ')
        : !ITEM.test(line) && isInside(line, lines[at + i - 1] ?? ''));
    const own = takeWhile(lines.slice(at), isPart);
    const indent = new RegExp(`^ {1,${marked.length}}`);
    items.push(parseLines(own.map((line, i) => (i === 0 ? line.slice(marked.length) : line.replace(indent, '')))));
    at += own.length;
    while (lines[at]?.trim() === '' && ITEM.test(lines[at + 1] ?? '')) at += 1;
  }
  return { lines: at, block: { kind: 'list', isOrdered, items } };
}

/** Whether a line continues an item: it is indented, or a lazy continuation of a paragraph. */
function isInside(line: string, before: string): boolean {
  return line.startsWith(' ') || (before.trim() !== '' && !/^[#|`<]/.test(line));
}

function takeParagraph(lines: readonly string[]): Taken {
  const taken = takeWhile(
    lines,
    (line, i) => i === 0 || (line.trim() !== '' && !/^(?:#{1,6} |```|\||[-*] |1\. )/.test(line)),
  );
  return { lines: taken.length, block: { kind: 'paragraph', text: taken.join('\n') } };
}

function takeWhile(lines: readonly string[], holds: (line: string, i: number) => boolean): readonly string[] {
  const end = lines.findIndex((line, i) => !holds(line, i));
  return end === -1 ? lines : lines.slice(0, end);
}
