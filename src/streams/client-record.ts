import type { StreamFormat } from '../protocol/run-plan.ts';
import type { Fields } from '../protocol/shape/read-unknown.ts';
import type { ClientStream, RecordHint } from './client-stream.ts';
import { FollowedFile } from './file-lines.ts';
import { STREAMS } from './reader.ts';
import { parseJsonFields, type UsageEvent } from './stream-event.ts';

export interface RecordedUsage {
  readonly events: readonly UsageEvent[];
  /** Whether the record lacks the request of this tool call. */
  readonly isUncounted: boolean;
  /** The last model in the record; null if the record names none. */
  readonly model: string | null;
}

/**
 * Follows a client's record of a conversation. Before a tool call the stream lacks the usage (Codex, Gemini) or the
 * output (Claude). Each line is read once.
 */
export class ClientRecord {
  readonly #layout: ClientStream['record'];
  readonly #since: string;
  readonly #files = new Map<string, FollowedFile>();

  /** `since` (RFC 3339) is the start of the process: earlier usage of a resumed conversation is already counted. */
  constructor(format: StreamFormat, since: string) {
    this.#layout = STREAMS[format].record;
    this.#since = since;
  }

  read(hint: RecordHint): RecordedUsage {
    if (!hint.path.endsWith('.jsonl')) return { events: [], isUncounted: false, model: null };
    const { filesOf, readLine, modelIn, isUncounted } = this.#layout;
    const lines = filesOf(hint).flatMap((path) => this.#newLines(path));
    const events = lines.flatMap((line) => readLine(line, hint, this.#since));
    const models = lines.map(modelIn).filter((model) => model !== '');
    return { events, isUncounted: isUncounted(lines, hint), model: models.at(-1) ?? null };
  }

  #newLines(path: string): readonly Fields[] {
    const file = this.#files.get(path) ?? new FollowedFile(path);
    this.#files.set(path, file);
    return file.readNew().flatMap((line): readonly Fields[] => {
      const fields = parseJsonFields(line);
      return fields === null ? [] : [fields];
    });
  }
}
