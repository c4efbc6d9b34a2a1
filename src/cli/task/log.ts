import { existsSync } from 'node:fs';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { textOf } from '../../protocol/shape/read-unknown.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import { FileChangeSignal } from '../../api/file-change-signal.ts';
import { safeLine } from '../../streams/readable/safe-line.ts';
import { type LogView, rawLogView, readableLogView } from '../agents/log-view.ts';
import { followLogFile, LOG_OPTIONS, parseLineCount, readLog } from '../agents/logs.ts';
import { flag, nullable, optional, text, variants } from '../../protocol/shape/build-shape.ts';
import { createObserver, withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { followEntries, readHeadSeq, untilInterrupted } from '../run/follow-entries.ts';
import { colored, type Style, wantsColors } from '../status/paint.ts';
import { type LogPart, TaskLogStory } from './log-story.ts';
import { jsonOf, renderPart } from './render-log-part.ts';

const agent = { agent_id: text, name: text };
const logLine = variants({
  session: {
    ...agent,
    role: { ...nullable(text), about: 'The role of the session.' },
    holder: { ...nullable(text), about: 'The name under which it claimed the task.' },
    at: text,
    run: { ...text, about: 'The program: `scripted`, `claude`, a command.' },
    ended: { ...nullable(text), about: 'How it ended; null while it works.' },
  },
  'session-end': { ...agent, ended: { ...text, about: 'How it ended.' } },
  line: { agent_id: text, line: { ...text, about: 'A line as the client printed it.' } },
  check: {
    name: text,
    at: text,
    outcome: { ...text, about: '`passed`, `failed` or `cancelled`.' },
    output: { ...text, about: 'The end of its output; empty if it passed.' },
  },
  note: {
    at: text,
    text: { ...text, about: 'Another event of the task, in words.' },
    needs_person: optional(flag, 'The task waits for a person.'),
  },
});

export const taskLogCommand: CliCommand = {
  examples: ['baton task log P0.1.1', 'baton task log P0.1.1 -f', 'baton task log P0.1.1 -n 50 --raw'],
  args: [{ name: 'ID', about: 'The task' }],
  options: [
    ...LOG_OPTIONS.map((option) =>
      option.name === 'follow'
        ? { ...option, about: 'Keep printing new output, also of later sessions, until the task is over or blocked' }
        : option,
    ),
    ...COMMON_OPTIONS.map((option) =>
      option.name === 'json' ? { ...option, about: 'Print each part and each line, as with --raw, as JSON' } : option,
    ),
  ],
  json: [{ lines: true, shape: logLine }],
  exitCodes: { 0: 'printed; with -f: the task is over or blocked', 1: 'no such task', 130: 'interrupted with Ctrl-C' },
  async run(given, io) {
    const lines = parseLineCount(given);
    if ('usage' in lines) return lines;
    const [id = ''] = given.args;
    const found = await withClient(given, io, async (client) => client.call('task_wait', { task_id: id }));
    if (!found.ok) return reportError(found.error, given, io);
    using interrupt = untilInterrupted();
    using client = createObserver(given, io);
    const { signal } = interrupt;
    const log = new TaskLog(id, given, io, signal);
    const follows = given.options.has('follow');
    const size = await readHeadSeq(client);
    const entries = followEntries(client, { after: 0, signal, isWanted: (json) => log.mayConcern(json) });
    try {
      const unread = await log.printHistory(entries, { size, lines: lines.value, follows });
      const error = unread ?? (follows ? await log.follow(entries, client, lines.value) : undefined);
      if (signal.aborted) return EXIT.interrupted;
      return error === undefined ? EXIT.ok : reportError(error, given, io);
    } finally {
      await entries.return(undefined);
    }
  },
};

type Entries = ReturnType<typeof followEntries>;
type Session = Extract<LogPart, { kind: 'session' }>;
type Print = (line: string) => void;

interface FollowedLog {
  readonly bell: FileChangeSignal;
  readonly over: AbortController;
  readonly printed: Promise<void>;
}

/** Prints the parts of a task's log on a terminal, as text or JSON. */
class TaskLog {
  readonly #id: string;
  readonly #io: Io;
  readonly #stateDir: string;
  readonly #signal: AbortSignal;
  readonly #story: TaskLogStory;
  readonly #asJson: boolean;
  readonly #isRaw: boolean;
  readonly #colors: boolean;
  /** The sessions whose output is followed, by agent. */
  readonly #followed = new Map<string, FollowedLog>();
  #working: readonly Session[] = [];

  constructor(id: string, { options }: ParsedArguments, io: Io, signal: AbortSignal) {
    this.#id = id;
    this.#io = io;
    this.#stateDir = findStateDir(io.env);
    this.#signal = signal;
    this.#story = new TaskLogStory(id);
    this.#asJson = options.has('json');
    this.#isRaw = options.has('raw') || this.#asJson;
    this.#colors = wantsColors(io);
  }

  mayConcern(json: string): boolean {
    return this.#story.mayConcern(json);
  }

  /** Prints the log up to entry `size`, or its last lines. Returns why the entries could not be read. */
  async printHistory(entries: Entries, { size, lines, follows }: HistoryOptions): Promise<ApiError | undefined> {
    const parts: LogPart[] = [];
    for (let seq = 0; seq < size;) {
      const next = await entries.next();
      if (next.done === true) return next.value;
      ({ seq } = next.value);
      parts.push(...this.#story.note(next.value));
    }
    this.#working = follows ? this.#story.working : [];
    const isFollowed = new Set(this.#working.map(({ agentId }) => agentId));
    const printed: string[] = [];
    const print: Print = lines === undefined ? this.#print : (line) => void printed.push(line);
    for (const part of parts) {
      // The output of a working session comes last, because it continues.
      if ('agentId' in part && isFollowed.has(part.agentId)) continue;
      // The heading of a session that has ended already shows its end.
      if (part.kind !== 'session-end') await this.#printPart(part, print);
    }
    // If a session works, the last lines are its own.
    const count = this.#working.length > 0 ? 0 : (lines ?? 0);
    for (const line of printed.slice(Math.max(0, printed.length - count))) this.#print(line);
    return undefined;
  }

  /** Prints new parts until the task is over or blocked. */
  async follow(entries: Entries, client: Client, lines: number | undefined): Promise<ApiError | undefined> {
    for (const session of this.#working) this.#startFollowing(session, lines);
    try {
      for (let isOver = await this.#isOver(client); !isOver;) {
        const next = await entries.next();
        if (next.done === true) return next.value;
        this.#followed.get(textOf(next.value.data['agent_id']))?.bell.ring();
        const parts = this.#story.note(next.value);
        for (const part of parts) {
          if (part.kind === 'session-end') await this.#stopFollowing(part.agentId);
          if (part.kind === 'session') this.#startFollowing(part, undefined);
          else await this.#printPart(part, this.#print);
        }
        isOver = parts.length > 0 && (await this.#isOver(client));
      }
      return undefined;
    } finally {
      for (const agentId of this.#followed.keys()) await this.#stopFollowing(agentId);
    }
  }

  /** A task that waits for an answer continues after it. A blocked one does not continue by itself. */
  async #isOver(client: Client): Promise<boolean> {
    if (this.#followed.size > 0) return false;
    const answer = await client.call('task_wait', { task_id: this.#id });
    if (!answer.ok) return false;
    const { state, reason, decision_ids } = answer.result;
    if (state === 'going' || decision_ids.length > 0) return false;
    if (state === 'waiting') this.#io.err(`${safeLine(`${this.#id} is blocked: ${reason ?? ''}`)}\n`);
    return true;
  }

  #startFollowing(session: Session, lines: number | undefined): void {
    for (const line of this.#heading(session)) this.#print(line);
    const { log } = agentFiles(this.#stateDir, session.agentId);
    const bell = new FileChangeSignal(log);
    const over = new AbortController();
    const signal = AbortSignal.any([this.#signal, over.signal]);
    const onLine = (line: string): void => this.#print(this.#logLine(session, line));
    const printed = followLogFile(log, { signal, bell, lines, onLine, view: this.#view(session) });
    this.#followed.set(session.agentId, { bell, over, printed });
  }

  async #stopFollowing(agentId: string): Promise<void> {
    const followed = this.#followed.get(agentId);
    followed?.over.abort();
    await followed?.printed;
    this.#followed.delete(agentId);
  }

  async #printPart(part: LogPart, print: Print): Promise<void> {
    for (const line of this.#heading(part)) print(line);
    if (part.kind !== 'session') return;
    const { log } = agentFiles(this.#stateDir, part.agentId);
    if (existsSync(log)) {
      const onLine = (line: string): void => print(this.#logLine(part, line));
      await readLog(log, { view: this.#view(part), onLine });
    } else if (!this.#asJson) print(this.#paint('(its log was deleted)', 'dim'));
  }

  #view(session: Session): LogView {
    return this.#isRaw ? rawLogView() : readableLogView(session, this.#colors);
  }

  #logLine({ agentId }: Session, line: string): string {
    return this.#asJson ? JSON.stringify({ kind: 'line', agent_id: agentId, line }) : line;
  }

  #heading(part: LogPart): string[] {
    return this.#asJson
      ? [JSON.stringify(jsonOf(part))]
      : renderPart(part).map(([text, style]) => this.#paint(text, style));
  }

  #paint(text: string, style: Style): string {
    const clean = safeLine(text);
    return this.#colors ? colored(clean, style) : clean;
  }

  readonly #print: Print = (line) => this.#io.out(`${line}\n`);
}

interface HistoryOptions {
  readonly size: number;
  readonly lines: number | undefined;
  readonly follows: boolean;
}
