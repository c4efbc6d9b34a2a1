import { isatty } from 'node:tty';
import { renderBell } from '../../notify/terminal.ts';
import type { ApiError } from '../../api/answer.ts';
import { createClient } from '../../api/client/connect.ts';
import { clientOptions, createObserver } from '../ask.ts';
import { EXIT, type ParsedArguments, type Io } from '../command.ts';
import type { FollowedEntry } from '../run/follow-entries.ts';
import { textIn } from '../run/read-fields.ts';
import { parseStatus, type StatusView } from '../run/views.ts';
import { untilInterrupted } from '../run/interrupt.ts';
import { findProjectDir } from '../runbook/runbook.ts';
import { statusTimeoutMs } from '../ask-status.ts';
import { wantsColors } from './colors.ts';
import { followStatus } from './follow-status.ts';
import { describeFault, renderStatus, type Away } from './render-status.ts';
import { Screen } from './screen.ts';

/** `status --watch`: a live tree on a terminal, lines elsewhere, NDJSON with --json. It starts a daemon once, and then only looks on. */
export async function watchStatus(given: ParsedArguments, io: Io): Promise<number> {
  using interrupt = untilInterrupted();
  const unreached = await startDaemonOnce(given, io);
  const client = createObserver(given, io, { answerMs: statusTimeoutMs(io) });
  try {
    if (given.options.has('json')) await printJson(client, unreached, interrupt.signal, io);
    else if (io.isTerminal && isatty(0)) return await watchOnScreen(client, unreached, interrupt.signal, given, io);
    else await printLines(client, unreached, interrupt.signal, io);
    return EXIT.interrupted;
  } finally {
    client.close();
  }
}

/** A daemon that is stopped later was stopped on purpose. Returns why there is none, or why it does not answer. */
async function startDaemonOnce(given: ParsedArguments, io: Io): Promise<ApiError | undefined> {
  const client = createClient({ ...clientOptions(given, io), answerMs: statusTimeoutMs(io) });
  const unreached = await client.reach();
  client.close();
  return unreached;
}

type Client = ReturnType<typeof createObserver>;

async function printJson(client: Client, unreached: ApiError | undefined, signal: AbortSignal, io: Io): Promise<void> {
  let last = '';
  const print = (value: unknown): void => {
    const line = JSON.stringify(value);
    if (line !== last) io.out(`${line}\n`);
    last = line;
  };
  await followStatus(
    client,
    { unreached, signal },
    {
      onStatus: (_, result) => print(result),
      onAway: ({ code, message, hint }) => print({ away: message, code, hint }),
      onEntry: () => undefined,
    },
  );
}

/** The tree, whenever something has happened. Ages grow by themselves: they are shown, and make no new picture. */
async function printLines(client: Client, unreached: ApiError | undefined, signal: AbortSignal, io: Io): Promise<void> {
  let last = '';
  const print = (picture: string, text = picture): void => {
    if (picture !== last) io.out(`${text}\n`);
    last = picture;
  };
  const tree = (status: StatusView, now: Date): string =>
    renderStatus(status, { columns: Infinity, now, colors: false }).join('\n');
  await followStatus(
    client,
    { unreached, signal },
    {
      onStatus: (status) => print(tree(status, new Date(0)), `${tree(status, new Date())}\n`),
      onAway: (why) => print(`${describeFault(why)}. ${why.hint}\n`),
      onEntry: () => undefined,
    },
  );
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
/** Before the first answer. */
const EMPTY_STATUS = parseStatus({});

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
    // Also after this process or the machine was suspended, when no timer has fired yet.
    away ??= Date.now() - askedAt > STALE_MS ? { since: new Date(askedAt), why: STALE } : undefined;
    const common = { columns, rows, now: new Date(), colors: wantsColors(io) };
    screen.paint(renderStatus(status ?? EMPTY_STATUS, away === undefined ? common : { ...common, away }));
  };
  screen.onResize(() => {
    screen.forget();
    paint();
  });
  screen.onKey((key) => {
    // In raw mode Ctrl-C is a key like others.
    isInterrupted ||= key.includes(CTRL_C);
    if (isInterrupted || /[qQ]/.test(key) || key.includes(CTRL_D)) left.abort();
  });
  const end = (): void => left.abort();
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.once(name, end);
  // Ages grow.
  const clock = setInterval(paint, 1000);
  try {
    await followStatus(
      client,
      { unreached, signal: AbortSignal.any([interrupted, left.signal]) },
      {
        onStatus: (now, _, at) => {
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
      },
    );
  } finally {
    clearInterval(clock);
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, end);
  }
  return isInterrupted || interrupted.aborted ? EXIT.interrupted : EXIT.ok;
}

/** An answer that is older than this is not shown as if it were the present. */
const STALE_MS = 12_000;
const STALE: ApiError = {
  code: 'no-answer',
  message: `the last answer of the daemon is older than ${STALE_MS / 1000} s`,
  hint: 'Wait for the next one.',
};

/** A call, where the runbook wants terminals to be called for such things. A runbook that cannot be read silences nobody. */
async function bellFor({ type, data }: FollowedEntry, given: ParsedArguments, io: Io): Promise<string> {
  if (type !== 'NotificationRequested') return '';
  const { readRunbook } = await import('../../runbook/read/read-runbook.ts');
  const { checked } = await readRunbook(await findProjectDir(given, io));
  const isWanted =
    !checked.ok || (checked.value.notify.terminal && checked.value.notify.on.some((on) => on === data['kind']));
  return isWanted ? renderBell({ title: textIn(data['title']), message: textIn(data['message']) }) : '';
}
