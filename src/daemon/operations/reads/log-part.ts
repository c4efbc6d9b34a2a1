import { type AgentLogPart, LOG_LIMITS } from '../../../api/operations/agent-log.ts';
import type { InputOf } from '../../../api/operations/registry.ts';
import { lastGroups, LogPartReader } from '../../../streams/readable/log-part.ts';
import type { ReadableLine } from '../../../streams/readable/readable-log.ts';
import { type OpenLog, openLog, type Part, readLastLines, readLines } from './log-file.ts';

export interface LogSource {
  readonly agentId: string | null;
  readonly path: string;
  readonly format: AgentLogPart['format'];
  /** Whether nothing more will be written. */
  readonly isOver: boolean;
  /** A file that exists when a command has ended. */
  readonly endFile?: string;
}

type LogInput = Omit<InputOf<'agent_log'>, 'id' | 'command_id' | 'wait_ms'>;

/** Reads one part of a log. Memory and time depend on the part's length, not on the log's. */
export async function readLogPart(source: LogSource, input: LogInput): Promise<AgentLogPart> {
  const { agentId: agent_id, format, isOver: ended } = source;
  await using log = await openLog(source.path);
  if (log === undefined) return { agent_id, format, ended, ...NO_LOG };
  const is_cut = isReplaced(log, input);
  const read =
    input.from === undefined || is_cut ? readEnd(log, source, input) : readFrom(log, source, input, input.from);
  const { from, to, lines } = await read;
  const text = lines.map((line) => `${line.text}\n`).join('');
  const kinds = input.raw === true ? [] : lines.map(({ kind }) => kind);
  const about = { size: log.size, printed_at: log.changedAt, file: log.name };
  return { agent_id, format, ended, text, kinds, from, to, is_cut, ...about };
}

const NO_LOG = { text: '', kinds: [], from: 0, to: 0, size: 0, printed_at: null, is_cut: false, file: '' } as const;

/** Whether another file has replaced the log. After a cut, the log is a shorter file. */
function isReplaced({ name, size }: OpenLog, { from, file }: LogInput): boolean {
  return from !== undefined && (from > size || (file !== undefined && file !== '' && file !== name));
}

interface ReadPart {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly ReadableLine[];
}

async function readFrom(log: OpenLog, source: LogSource, input: LogInput, from: number): Promise<ReadPart> {
  const range = { to: endOf(log, input), limitBytes: limitOf(input), isWhole: isWhole(source, input) };
  const part = await readLines(log, { ...range, from, isLineStart: input.file !== undefined });
  const key = { log, source, input };
  const reader = READERS.take(key, part.start) ?? (await createReader(log, source, input, part.start));
  const lines = reader.push(part.bytes).flatMap((group) => group.lines);
  return finish(part, lines, reader, key);
}

/**
 * Reads the last lines. The part starts at a line of the log, and includes all shown lines that this one renders to.
 */
async function readEnd(log: OpenLog, source: LogSource, input: LogInput): Promise<ReadPart> {
  const range = { to: endOf(log, input), limitBytes: limitOf(input), isWhole: isWhole(source, input) };
  const count = input.to_lines ?? LOG_LIMITS.lines;
  let found: ReadPart = { from: range.to, to: range.to, lines: [] };
  for await (const part of readLastLines(log, range)) {
    const reader = createEmptyReader(source, input);
    const groups = lastGroups(reader.push(part.bytes), count);
    const lines = groups.flatMap((group) => group.lines);
    const shown = { start: part.start + (groups[0]?.start ?? 0), bytes: part.bytes.subarray(groups[0]?.start ?? 0) };
    found = finish(shown, lines, reader, { log, source, input });
    if (lines.length >= count) break;
  }
  return found;
}

function finish(
  { start, bytes }: Part,
  lines: readonly ReadableLine[],
  reader: LogPartReader,
  key: ReaderKey,
): ReadPart {
  const to = start + bytes.length;
  const isLast = key.source.isOver && to === key.log.size;
  const all = isLast ? [...lines, ...reader.end()] : lines;
  if (!isLast) READERS.keep(key, to, reader);
  return { from: start, to, lines: all };
}

function endOf({ size }: OpenLog, { to = size }: LogInput): number {
  return Math.min(to, size);
}

function limitOf({ limit_bytes = LOG_LIMITS.bytes }: LogInput): number {
  return limit_bytes;
}

/** Whether the last line is complete. In a log that is not over it may still grow. */
function isWhole({ isOver }: LogSource, { to }: LogInput): boolean {
  return isOver || to !== undefined;
}

function createEmptyReader({ format }: LogSource, { raw }: LogInput): LogPartReader {
  return new LogPartReader(raw === true ? null : format);
}

/** Creates a reader that has read what came just before: text chunks, and calls that have started. */
async function createReader(log: OpenLog, source: LogSource, input: LogInput, start: number): Promise<LogPartReader> {
  const reader = createEmptyReader(source, input);
  if (input.raw === true || source.format === 'text' || start === 0) return reader;
  const from = Math.max(0, start - KNOWN_BYTES);
  const before = await readLines(log, { from, to: start, limitBytes: KNOWN_BYTES, isWhole: true });
  reader.push(before.bytes);
  return reader;
}

const KNOWN_BYTES = 64 * 1024;

interface ReaderKey {
  readonly log: OpenLog;
  readonly source: LogSource;
  readonly input: LogInput;
}

/** The readers of followed logs, by the position at which each continues. */
class KeptReaders {
  readonly #kept = new Map<string, LogPartReader>();

  take(key: ReaderKey, at: number): LogPartReader | undefined {
    const name = nameOf(key, at);
    const reader = this.#kept.get(name);
    this.#kept.delete(name);
    return reader;
  }

  keep(key: ReaderKey, at: number, reader: LogPartReader): void {
    this.#kept.set(nameOf(key, at), reader);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_READERS && oldest !== undefined) this.#kept.delete(oldest);
  }
}

function nameOf({ log, source, input }: ReaderKey, at: number): string {
  return `${source.path}\n${log.name}\n${input.raw === true}\n${at}`;
}

const READERS = new KeptReaders();
const MOST_READERS = 64;
