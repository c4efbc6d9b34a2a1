import type { Answer } from '../../api/answer.ts';
import { PAGE_PATHS } from '../../api/page-access.ts';
import { fieldsOf, numberOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { fetchSigned, type OpenDoor, openDoor, parseJson, unreachable } from './door.ts';
import { Locked, NoAnswer, noAnswerError } from './no-answer.ts';
import type { HubCall, Link } from './messages.ts';
import type { StreamedEntry } from './streamed-entry.ts';

export interface LinkEvents {
  readonly onChange: (link: Link) => void;
  /** Called after every opening of the stream, before its first entry. */
  readonly onLive: () => void;
  readonly onEntries: (entries: readonly StreamedEntry[]) => void;
  readonly onHeads: (heads: ReadonlyMap<string, number>) => void;
  /** The last entry of each project that the hub has; the stream continues after it. */
  readonly after: () => Readonly<Record<string, number>>;
}

/** The daemon sends a pulse every second. */
const SILENT_MS = 3500;
const ANSWER_MS = 4000;
const SLOW_ANSWER_MS = 20_000;
const RETRY_MS = 1000;

/** Operations that read files, git or many entries. */
const SLOW: ReadonlySet<string> = new Set([
  'task_diff', 'agent_log', 'ledger_export', 'state_snapshot', 'entries_read', 'task_proof', 'decision_show',
  'decision_evidence', 'reconcile',
]); // prettier-ignore

/**
 * A browser's only connection to the daemon: authenticates, follows the event stream, and restarts after every failure.
 */
export class DaemonLink {
  readonly #events: LinkEvents;
  #given: { code?: string; daemonKey?: string } = {};
  #door: OpenDoor | undefined;
  #daemonKey: string | undefined;
  #link: Link = { kind: 'starting' };
  #lastSignAt: number | undefined;
  #isRunning = false;
  #isKnockedAgain = (): void => {};

  constructor(events: LinkEvents) {
    this.#events = events;
  }

  get link(): Link {
    return this.#link;
  }

  get keyName(): string | undefined {
    return this.#door?.key.name;
  }

  /** The key of the daemon that has proved its identity; stays set while the daemon is away. */
  get daemonKey(): string | undefined {
    return this.#daemonKey;
  }

  /** Handles a newly opened tab, which may have a new code. */
  knock(given: { readonly code?: string; readonly daemonKey?: string }): void {
    if (given.code !== undefined) this.#given = given;
    if (!this.#isRunning) void this.#run();
    this.#isKnockedAgain();
  }

  async call({ operation, input, key }: HubCall, projectPath: string | undefined): Promise<Answer> {
    const door = this.#door;
    if (door === undefined || this.#link.kind !== 'live') {
      const why = this.#link.kind === 'away' ? this.#link.why : 'gone';
      return { ok: false, error: noAnswerError(why) };
    }
    try {
      const { text, response } = await fetchSigned(door, {
        method: 'POST',
        path: `/v1/${operation}`,
        body: JSON.stringify(input),
        signal: AbortSignal.timeout(SLOW.has(operation) ? SLOW_ANSWER_MS : ANSWER_MS),
        ...(projectPath === undefined ? {} : { project: encodeURI(projectPath) }),
        ...(key === undefined ? {} : { key }),
      });
      const answer = parseJson(text);
      if (isAnswer(answer)) return answer;
      throw new NoAnswer(response.status >= 500 ? 'failing' : 'foreign');
    } catch (error) {
      return { ok: false, error: noAnswerError(unreachable(error).why) };
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      try {
        const door = await openDoor(this.#given, AbortSignal.timeout(ANSWER_MS));
        this.#given = {};
        this.#door = door;
        this.#daemonKey = door.key.daemonKey;
        await this.#follow(door);
        this.#leave('gone');
      } catch (error) {
        if (error instanceof Locked) this.#lock(error);
        else this.#leave(unreachable(error).why);
      }
      await this.#pause();
    }
  }

  #leave(why: NoAnswer['why']): void {
    this.#door = undefined;
    // An address with a wrong daemon key must not lock out a page that has the right one.
    if (why === 'foreign') this.#given = {};
    const since = this.#link.kind === 'away' ? this.#link.since : (this.#lastSignAt ?? Date.now());
    this.#show({ kind: 'away', why, since, shownAt: this.#lastSignAt });
  }

  #lock({ message, hint }: Locked): void {
    this.#door = undefined;
    // A refused code is never accepted later, so it is dropped.
    this.#given = {};
    this.#show({ kind: 'locked', why: message, hint });
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#isKnockedAgain = resolve;
      if (this.#link.kind !== 'locked') setTimeout(resolve, RETRY_MS);
    });
  }

  #show(link: Link): void {
    this.#link = link;
    this.#events.onChange(link);
  }

  #sign(): void {
    this.#lastSignAt = Date.now();
    this.#show({ kind: 'live', at: this.#lastSignAt });
  }

  /** Follows the stream. Returns when it has ended, and throws if it stays silent. */
  async #follow(door: OpenDoor): Promise<void> {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new DOMException('silent', 'TimeoutError')), SILENT_MS);
    };
    heard();
    try {
      const after = JSON.stringify(this.#events.after());
      const asked = { method: 'GET', path: PAGE_PATHS.events, after, signal: silence.signal } as const;
      const { response } = await fetchSigned(door, asked);
      if (!response.ok || response.body === null) throw new NoAnswer('failing');
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      this.#sign();
      this.#events.onLive();
      let rest = '';
      for (;;) {
        const piece = await reader.read();
        if (piece.done) return;
        heard();
        const parts = (rest + piece.value).split('\n\n');
        rest = parts.pop() ?? '';
        this.#receive(parts);
      }
    } catch (error) {
      // The decoder between the connection and its reader hides why the connection was closed.
      throw silence.signal.aborted ? new NoAnswer('hung') : error;
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
  }

  #receive(parts: readonly string[]): void {
    const entries: StreamedEntry[] = [];
    for (const { name, data } of parts.map(parseEvent)) {
      if (name === 'entry')
        entries.push({
          project: textOf(data['project']),
          seq: numberOf(data['seq']),
          entry: data['entry'],
          hash: textOf(data['hash']),
        });
      if (name === 'pulse') {
        const heads = Object.entries(fieldsOf(data['projects'])).map(([id, seq]) => [id, numberOf(seq)] as const);
        this.#events.onHeads(new Map(heads));
      }
    }
    if (entries.length > 0) this.#events.onEntries(entries);
    this.#sign();
  }
}

function parseEvent(text: string): { readonly name: string; readonly data: Readonly<Record<string, unknown>> } {
  let [name, data] = ['', ''];
  for (const line of text.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    if (line.startsWith('data:')) data += line.slice(5).trim();
  }
  return { name, data: fieldsOf(parseJson(data)) };
}

function isAnswer(value: unknown): value is Answer {
  const { ok, result, error } = fieldsOf(value);
  return (ok === true && result !== undefined) || (ok === false && typeof fieldsOf(error)['message'] === 'string');
}
