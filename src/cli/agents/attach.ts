import { readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { AgentView } from '../../api/run-views.ts';
import { type Fields, numberOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { pickTerminalVariables } from '../../supervisor/process/child.ts';
import { createObserver, withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { exitCodeOfOutcome } from '../operation-input.ts';
import { reportProblem } from '../problems.ts';
import { followEntries, readHeadSeq, untilInterrupted } from '../run/follow-entries.ts';
import { wantsColors } from '../status/paint.ts';
import { printable, shortId } from '../text.ts';
import { agentArgument } from './agents.ts';
import { readableLogView } from './log-view.ts';
import { findElsewhere, followLog, readAgent } from './logs.ts';
import { openTerminalConnection, runInTerminal } from './terminal.ts';

export const agentAttachCommand: CliCommand = {
  examples: ['baton agent attach 5d0e7b41', 'baton agent attach --chat 5d0e7b41'],
  args: [agentArgument],
  options: [
    {
      name: 'chat',
      formerly: ['--lines'],
      about: 'Do not interrupt the agent: show its output, and send each line that you type',
    },
    ...COMMON_OPTIONS.filter(({ name }) => name !== 'json'),
  ],
  exitCodes: { 0: 'done, or detached', 1: 'failed or cancelled', 130: 'detached with Ctrl-C; the agent continues' },
  ownsTerminal: () => true,
  async run(given, io) {
    const { answer, after } = await readAgent(given, io);
    if (!answer.ok) return reportError(answer.error, given, io);
    const agent = answer.result;
    const elsewhere = findElsewhere(agent);
    if (elsewhere !== undefined) return reportProblem(elsewhere, io);
    const isForTerminal = agent.interactive && agent.outcome === null && isatty(0) && isatty(1);
    if (isForTerminal && !given.options.has('chat')) return attachTerminal(agent, given, io);
    io.err(
      `Attached to ${printable(agent.name)} ${shortId(agent.id)} (${printable(agent.status)}). Its output is shown here; each line ` +
        'that you type is sent to it as a message. Ctrl-D detaches; the agent continues.\n',
    );
    using interrupt = untilInterrupted();
    using client = createObserver(given, io);
    return await attachLines(agent, client, { after, signal: interrupt.signal }, io);
  },
};

async function attachLines(
  agent: AgentView,
  client: Client,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
  io: Io,
): Promise<number> {
  const typing = new AbortController();
  const typed = sendLines(agent, client, typing.signal, io);
  const leaving = new AbortController();
  const onLine = (line: string): void => io.out(`${line}\n`);
  const log = followLog(agent, client, {
    after,
    signal: AbortSignal.any([signal, leaving.signal]),
    lines: SHOWN_LINES,
    onLine,
    view: readableLogView(agent, wantsColors(io)),
  });
  // When the input or the agent ends, the other one is ended too.
  void typed.then(() => leaving.abort());
  const end = await log;
  typing.abort();
  await typed;
  if (end !== undefined) {
    io.err(`The agent has ended: ${printable(end.status)}.\n`);
    return exitCodeOfOutcome(end);
  }
  io.err(`Detached; the agent continues. Stop it with: baton agent kill ${shortId(agent.id)}\n`);
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

async function sendLines(agent: AgentView, client: Client, signal: AbortSignal, io: Io): Promise<void> {
  const lines = createInterface({ input: process.stdin, terminal: false });
  const stop = (): void => {
    lines.close();
    process.stdin.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const text of lines) {
      if (text.trim() === '') continue;
      const answer = await client.call('agent_send', { id: agent.id, text });
      if (!answer.ok) io.err(`Not sent: ${printable(answer.error.message)}\n`);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Runs an agent's client interactively in this terminal. The supervisor waits while the connection to it is open. When
 * it closes for any reason, Baton takes the conversation back.
 */
export async function attachTerminal(agent: AgentView, given: ParsedArguments, io: Io): Promise<number> {
  const by = terminalUser();
  io.err(
    `Attaching ${printable(agent.name)} ${shortId(agent.id)} to this terminal; its current turn is interrupted.\n`,
  );
  const ready = await withClient(given, io, async (client) => requestTerminal(client, agent.id, by));
  if ('error' in ready) return reportError(ready.error, given, io);
  const opened = await openTerminalConnection(ready, { by, env: pickTerminalVariables(io.env) });
  if (!opened.ok) return reportError(notAttached(agent.id, opened.reason), given, io);
  const { line } = opened;
  const ran = await runInTerminal(line.launch, line.broken);
  // A killed client leaves the terminal in the client's mode.
  if (!ran.ok || ran.code !== 0) io.err(PLAIN_SCREEN);
  await line.leave(ran.ok ? ran.code : null);
  if (!ran.ok) return reportError(notAttached(agent.id, `${line.launch.argv[0] ?? ''}: ${ran.reason}`), given, io);
  if (ran.code !== 0)
    io.err(`\n${printable(line.launch.argv[0] ?? '')} ended with ${ran.signal ?? `code ${ran.code}`}.`);
  io.err(`\n${await describeAgentNow(agent, given, io)} See: baton agent show ${shortId(agent.id)}\n`);
  return EXIT.ok;
}

/** The run may have ended in the meantime. If no daemon runs, the supervisor reports later. */
async function describeAgentNow({ id, name }: AgentView, given: ParsedArguments, io: Io): Promise<string> {
  using client = createObserver(given, io);
  const answer = await client.call('agent_show', { id });
  const outcome = answer.ok ? answer.result.outcome : null;
  if (outcome !== null) return `The run of ${printable(name)} has ended: ${printable(outcome)}.`;
  return `Baton continues the conversation of ${printable(name)}.`;
}

/** Resets the terminal: main screen, visible cursor, default colours, no reports of mouse, focus or paste. */
const PLAIN_SCREEN =
  '\u001B[?1049l\u001B[?25h\u001B[?2004l\u001B[?1000l\u001B[?1002l\u001B[?1003l\u001B[?1006l\u001B[?1004l\u001B[<u\u001B[0m';

type Ready = { readonly folder: string; readonly start: number } | { readonly error: ApiError };

/** Requests the conversation, and waits until the process that runs it has stopped. */
async function requestTerminal(client: Client, id: string, by: string): Promise<Ready> {
  const after = await readHeadSeq(client);
  const answer = await client.call('agent_attach', { id, by });
  if (!answer.ok) return { error: answer.error };
  const { folder, start } = answer.result;
  const entries = followEntries(client, { after, signal: AbortSignal.timeout(STOP_MS) });
  for await (const { type, data } of entries) {
    if (textOf(data['agent_id']) !== id) continue;
    if (type === 'AgentStarted' && numberOf(data['start']) === start) return { folder, start };
    const reason = findRefusalReason(type, data);
    if (reason !== undefined) return { error: notAttached(id, reason) };
  }
  return { error: notAttached(id, 'the agent did not stop in time') };
}

/** Longer than the time from the stop request to the kill of a client. */
const STOP_MS = 120_000;

function findRefusalReason(type: string, data: Fields): string | undefined {
  if (type === 'AgentStartFailed') return textOf(data['reason']);
  return type === 'AgentEnded' ? `its run has ended: ${textOf(data['outcome'])}` : undefined;
}

function notAttached(id: string, reason: string): ApiError {
  const hint = `See: baton agent show ${shortId(id)}`;
  return { code: 'not-attached', message: `agent ${id} could not be attached: ${reason}`, hint };
}

/** Recorded, and shown to other users who try to attach. */
function terminalUser(): string {
  return `${userInfo().username}@${hostname()} (${terminalName()}, process ${process.pid})`;
}

function terminalName(): string {
  try {
    return readlinkSync('/proc/self/fd/0');
  } catch {
    return 'a terminal';
  }
}

const SHOWN_LINES = 20;
