import type { AgentLogPart } from '../../../api/operations/agent-log.ts';
import { visible } from '../../kit/visible.ts';
import { parseAnsiLine, PLAIN, type Style, type StyledLine } from '../ansi.ts';

/**
 * A part of a log file, in bytes from its beginning. If `kinds` is set, it says how each line is shown; else the text
 * has colours.
 */
export type LogPart = Pick<AgentLogPart, 'from' | 'to' | 'text' | 'kinds'>;
type LineKind = AgentLogPart['kinds'][number];

export interface LogChunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly StyledLine[];
  readonly chars: number;
}

/** The loaded part of a log: chunks without a gap between them. */
export interface LogWindow {
  readonly from: number;
  readonly to: number;
  readonly chunks: readonly LogChunk[];
  /** The last line, if it has no line break yet; it is parsed again with the next part. */
  readonly open: { readonly raw: string; readonly style: Style } | null;
  readonly style: Style;
}

export interface LogLimits {
  readonly lines: number;
  readonly chars: number;
}

/** The maximum that is kept of a log, wherever the reader is. */
const LOG_LIMITS: LogLimits = { lines: 50_000, chars: 8_000_000 };

const EMPTY: LogWindow = { from: 0, to: 0, chunks: [], open: null, style: PLAIN };

/** Adds new output. A part that does not follow starts a new window, because the file was replaced. */
export function appendPart(window: LogWindow | undefined, part: LogPart, limits: LogLimits = LOG_LIMITS): LogWindow {
  const before =
    window === undefined || window.to !== part.from ? { ...EMPTY, from: part.from, to: part.from } : window;
  if (part.text === '') return { ...before, to: part.to };
  const { open } = before;
  const read = readLines(`${open?.raw ?? ''}${part.text}`, part.kinds, open?.style ?? before.style);
  const kept = open === null ? before.chunks : withoutLastLine(before.chunks);
  const from = part.from - (open === null ? 0 : BYTES.encode(open.raw).length);
  const chunks = dropWhile([...kept, toChunk(Math.max(0, from), part.to, read.lines)], limits, 'oldest');
  return { ...read, from: chunks[0]?.from ?? part.from, to: part.to, chunks };
}

/** Adds the part right before the window, and drops the newest chunks if it becomes too large. */
export function prependPart(window: LogWindow, part: LogPart, limits: LogLimits = LOG_LIMITS): LogWindow {
  if (part.to !== window.from || part.text === '') return { ...window, from: Math.min(window.from, part.from) };
  const { lines } = readLines(part.text, part.kinds, PLAIN);
  const all = [toChunk(part.from, part.to, lines), ...window.chunks];
  const chunks = dropWhile(all, limits, 'newest');
  const isWhole = chunks.length === all.length;
  return {
    ...window,
    from: part.from,
    to: isWhole ? window.to : (chunks.at(-1)?.to ?? window.to),
    chunks,
    ...(isWhole ? {} : { open: null, style: PLAIN }),
  };
}

const BYTES = new TextEncoder();

type ReadLines = Pick<LogWindow, 'open' | 'style'> & { readonly lines: StyledLine[] };

function readLines(text: string, kinds: readonly LineKind[], first: Style): ReadLines {
  const raws = text.split('\n');
  const isOpen = raws.at(-1) !== '';
  if (!isOpen) raws.pop();
  if (kinds.length > 0) return { lines: raws.map((raw, i) => styleLine(raw, kinds[i])), open: null, style: PLAIN };
  let style = first;
  let open: LogWindow['open'] = null;
  const lines = raws.map((raw, i) => {
    if (isOpen && i === raws.length - 1) open = { raw, style };
    const parsed = parseAnsiLine(raw, style);
    ({ style } = parsed);
    return parsed.line;
  });
  return { lines, open, style };
}

const CLASSES: Readonly<Partial<Record<LineKind, string>>> = {
  dim: 'faint',
  result: 'faint',
  tool: 'ink-blue',
  call: 'ink-yellow',
  bad: 'ink-red',
};

function styleLine(raw: string, kind: LineKind = 'text'): StyledLine {
  const text = visible(raw.replaceAll('\t', '    '));
  const classes = CLASSES[kind];
  return { text, spans: classes === undefined ? null : [{ text, classes }] };
}

function toChunk(from: number, to: number, lines: readonly StyledLine[]): LogChunk {
  return { from, to, lines, chars: lines.reduce((sum, { text }) => sum + text.length, 0) };
}

function withoutLastLine(chunks: readonly LogChunk[]): LogChunk[] {
  const last = chunks.at(-1);
  if (last === undefined) return [];
  const rest = toChunk(last.from, last.to, last.lines.slice(0, -1));
  return [...chunks.slice(0, -1), ...(rest.lines.length === 0 ? [] : [rest])];
}

/** Drops whole chunks, so that the window begins and ends at a position that can be requested again. */
function dropWhile(chunks: readonly LogChunk[], limits: LogLimits, which: 'oldest' | 'newest'): LogChunk[] {
  const kept = [...chunks];
  let lines = kept.reduce((sum, chunk) => sum + chunk.lines.length, 0);
  let chars = kept.reduce((sum, chunk) => sum + chunk.chars, 0);
  while (kept.length > 1 && (lines > limits.lines || chars > limits.chars)) {
    const dropped = which === 'oldest' ? kept.shift() : kept.pop();
    lines -= dropped?.lines.length ?? 0;
    chars -= dropped?.chars ?? 0;
  }
  return kept;
}
