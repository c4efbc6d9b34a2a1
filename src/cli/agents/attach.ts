import { createInterface } from 'node:readline';
import { isatty } from 'node:tty';
import type { Client } from '../../api/client/client.ts';
import { createObserver, withClient } from '../ask.ts';
import { EXIT, type CliCommand, type Io } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { printable } from '../text.ts';
import { readHeadSeq } from '../run/follow-entries.ts';
import { untilInterrupted } from '../run/interrupt.ts';
import { fieldsIn } from '../run/read-fields.ts';
import { parseAgent, shortId, type AgentView } from '../run/views.ts';
import { exitCodeOfOutcome } from '../wait.ts';
import { attachTerminal } from './attach-terminal.ts';
import { followLog } from './follow-log.ts';
import { agentArgument } from './agents.ts';

const SHOWN_LINES = 20;

export const agentAttachCommand: CliCommand = {
  name: 'agent attach',
  summary: 'Take the conversation of an agent into your terminal; Baton continues it when you leave',
  examples: ['baton agent attach 5d0e7b41', 'baton agent attach --lines 5d0e7b41'],
  args: [agentArgument],
  options: [
    { name: 'lines', about: 'Do not interrupt it: see what it prints, and send it what you type, line by line' },
    ...COMMON_OPTIONS.filter(({ name }) => name !== 'json'),
  ],
  exitCodes: { 0: 'it is done, or you left', 1: 'it failed or was cancelled', 130: 'you left with Ctrl-C; it goes on' },
  async run(given, io) {
    const { answer, after } = await withClient(given, io, async (client) => {
      const head = await readHeadSeq(client);
      return { answer: await client.call('agent_show', { id: given.args[0] }), after: head };
    });
    if (!answer.ok) return reportError(answer.error, given, io);
    const agent = parseAgent(fieldsIn(answer.result));
    const isForTerminal = agent.interactive && agent.outcome === null && isatty(0) && isatty(1);
    if (isForTerminal && !given.options.has('lines')) return attachTerminal(agent, given, io);
    io.err(
      `Attached to ${printable(agent.name)} ${shortId(agent.id)} (${printable(agent.status)}). What it prints is shown here; each line ` +
        'that you type is sent to it as a message. It does not see your terminal. Ctrl-D leaves, and it goes on.\n',
    );
    using interrupt = untilInterrupted();
    const client = createObserver(given, io);
    try {
      return await attachLines(agent, client, { after, signal: interrupt.signal }, io);
    } finally {
      client.close();
    }
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
  });
  // Whoever has nothing more to say leaves; whatever ends first ends the other.
  void typed.then(() => leaving.abort());
  const end = await log;
  typing.abort();
  await typed;
  if (end !== undefined) {
    io.err(`The agent has gone: ${printable(end.status)}.\n`);
    return exitCodeOfOutcome({ status: end.status, outcome: end.outcome });
  }
  io.err(`Detached; it goes on. End it with: baton agent kill ${shortId(agent.id)}\n`);
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** Sends each line of standard input, in order, until it ends. */
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
