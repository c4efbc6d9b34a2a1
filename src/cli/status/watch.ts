import { isatty, type ReadStream, type WriteStream } from 'node:tty';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { StatusView } from '../../api/run-views.ts';
import { renderBell } from '../../notify/terminal.ts';
import { textOf } from '../../protocol/shape/read-unknown.ts';
import { createObserver, createStatusClient, statusTimeoutMs } from '../ask.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { type FollowedEntry, untilInterrupted } from '../run/follow-entries.ts';
import { findProjectDir } from '../runbook/runbook.ts';
import { followStatus } from './follow-status.ts';
import { wantsColors } from './paint.ts';
import { type Away, describeFault, renderStatus, type ShownStatus } from './render-status.ts';

/** `status --watch`: a live tree on a terminal, lines elsewhere, NDJSON with --json. */
export async function watchStatus(given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  const unreached = await startDaemon(given, io);
  using client = createObserver(given, io, statusTimeoutMs(io));
  if (given.options.has('json')) await printJson(client, unreached, interrupt.signal, io);
  else if (io.isTerminal && isatty(0)) return await watchOnScreen(client, unreached, interrupt.signal, given, io);
  else await printLines(client, unreached, interrupt.signal, io);
  return EXIT.interrupted;
}

/**
 * Called once, because a daemon that stops later was stopped on purpose. Returns why the daemon does not run or answer.
 */
async function startDaemon(given: ParsedArguments, io: Io): Promise<ApiError | undefined> {
  using client = createStatusClient(given, io);
  return await client.reach();
}

async function printJson(client: Client, unreached: ApiError | undefined, signal: AbortSignal, io: Io): Promise<void> {
  let last = '';
  const print = (value: unknown): void => {
    const line = JSON.stringify(value);
    if (line !== last) io.out(`${line}\n`);
    last = line;
  };
  await followStatus(client, unreached, signal, {
    onView: (status) => print(status),
    onAway: ({ code, message, hint }) => print({ away: message, code, hint }),
  });
}

/** Prints the tree after each change. A change of ages alone does not count. */
async function printLines(client: Client, unreached: ApiError | undefined, signal: AbortSignal, io: Io): Promise<void> {
  let last = '';
  const print = (tree: string, text = tree): void => {
    if (tree !== last) io.out(`${text}\n`);
    last = tree;
  };
  const render = (status: StatusView, now: Date): string =>
    renderStatus(status, { columns: Infinity, now, colors: false }).join('\n');
  await followStatus(client, unreached, signal, {
    onView: (status) => print(render(status, new Date(0)), `${render(status, new Date())}\n`),
    onAway: (why) => print(`${describeFault(why)}. ${why.hint}\n`),
  });
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const EMPTY_STATUS: ShownStatus = {
  all_clear: false,
  summary: '',
  importing: null,
  needs: 0,
  needs_you: [],
  answered: [],
  attention: [],
  workflows: [],
  pipelines: [],
  agents: [],
  tasks: { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 },
};

async function watchOnScreen(
  client: Client,
  unreached: ApiError | undefined,
  interrupted: AbortSignal,
  given: ParsedArguments,
  io: Io,
): Promise<number> {
  const left = new AbortController();
  using screen = new Screen(process.stdin, process.stdout, (text) => io.out(text));
  let status: StatusView | undefined;
  let askedAt = Date.now();
  let away: Away | undefined;
  let isInterrupted = false;
  const paint = (): void => {
    if (status === undefined && away === undefined) return;
    const { columns, rows } = screen;
    // Also detects that this process or the machine was suspended, before any timer fires.
    away ??= Date.now() - askedAt > STALE_MS ? { since: new Date(askedAt), why: STALE } : undefined;
    const common = { columns, rows, now: new Date(), colors: wantsColors(io) };
    screen.paint(renderStatus(status ?? EMPTY_STATUS, away === undefined ? common : { ...common, away }));
  };
  screen.onResize(() => {
    screen.forget();
    paint();
  });
  screen.onKey((key) => {
    // In raw mode Ctrl-C sends no signal.
    isInterrupted ||= key.includes(CTRL_C);
    if (isInterrupted || /[qQ]/.test(key) || key.includes(CTRL_D)) left.abort();
  });
  const end = (): void => left.abort();
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.once(name, end);
  // Updates the ages.
  const clock = setInterval(paint, 1000);
  try {
    await followStatus(client, unreached, AbortSignal.any([interrupted, left.signal]), {
      onView: (now, at) => {
        [status, askedAt, away] = [now, at, undefined];
        paint();
      },
      onAway: (why) => {
        away = { since: new Date(askedAt), why };
        paint();
      },
      onEntry: (entry) => {
        void bellFor(entry, given, io).then((text) => screen.send(text));
      },
    });
  } finally {
    clearInterval(clock);
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, end);
  }
  return isInterrupted || interrupted.aborted ? EXIT.interrupted : EXIT.ok;
}

/** An older answer is shown as outdated. */
const STALE_MS = 12_000;
const STALE: ApiError = {
  code: 'no-answer',
  message: `the last answer of the daemon is older than ${STALE_MS / 1000} s`,
  hint: 'Wait for the next one.',
};

/** Returns the bell if the runbook wants one for this notification. An invalid runbook silences none. */
async function bellFor({ type, data }: FollowedEntry, given: ParsedArguments, io: Io): Promise<string> {
  if (type !== 'NotificationRequested') return '';
  const { readRunbook } = await import('../../runbook/read/read-runbook.ts');
  const { checked } = await readRunbook(await findProjectDir(given, io));
  const isWanted =
    !checked.ok || (checked.value.notify.terminal && checked.value.notify.on.some((on) => on === data['kind']));
  return isWanted ? renderBell({ title: textOf(data['title']), message: textOf(data['message']) }) : '';
}

/** Takes over the terminal: alternate screen, no cursor, raw keys. Restores it however the command ends. */
class Screen implements Disposable {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #write: (text: string) => void;
  #painted: readonly string[] = [];
  #restored = false;

  constructor(input: ReadStream, output: WriteStream, write: (text: string) => void) {
    this.#input = input;
    this.#output = output;
    this.#write = write;
    if (input.isTTY) input.setRawMode(true);
    write(ENTER);
    process.on('exit', this.#restore);
  }

  get columns(): number {
    return Math.max(1, this.#output.columns || 80);
  }

  get rows(): number {
    return Math.max(1, this.#output.rows || 24);
  }

  paint(lines: readonly string[]): void {
    const text = repaint(this.#painted, lines);
    this.#painted = lines;
    if (text !== '') this.#write(text);
  }

  /** Makes the next paint a full one, after a resize. */
  forget(): void {
    this.#painted = [];
    this.#write('\u001B[2J');
  }

  /** Writes text that is not part of the screen, such as a bell. */
  send(text: string): void {
    this.#write(text);
  }

  onResize(listener: () => void): void {
    this.#output.on('resize', listener);
  }

  onKey(listener: (key: string) => void): void {
    this.#input.on('data', (chunk: Buffer) => listener(chunk.toString('utf8')));
  }

  [Symbol.dispose](): void {
    this.#restore();
    process.off('exit', this.#restore);
    this.#output.removeAllListeners('resize');
    this.#input.removeAllListeners('data');
    this.#input.destroy();
  }

  readonly #restore = (): void => {
    if (this.#restored) return;
    this.#restored = true;
    this.#write(LEAVE);
    if (this.#input.isTTY) this.#input.setRawMode(false);
  };
}

/** Alternate screen, no cursor, no line wrapping; `LEAVE` undoes these. */
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';
/** Synchronized output, which avoids flicker. Terminals without it ignore these. */
const BEGIN_UPDATE = '\u001B[?2026h';
const END_UPDATE = '\u001B[?2026l';

export function repaint(before: readonly string[], after: readonly string[]): string {
  let text = '';
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const line = after[row] ?? '';
    if (line !== (before[row] ?? '')) text += `\u001B[${row + 1};1H\u001B[K${line}`;
  }
  return text === '' ? '' : `${BEGIN_UPDATE}${text}${END_UPDATE}`;
}
