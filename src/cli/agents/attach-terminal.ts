import { readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { pickTerminalVariables } from '../../supervisor/process/about-terminal.ts';
import { createObserver, withClient } from '../ask.ts';
import { EXIT, type ParsedArguments, type Io } from '../command.ts';
import { reportError } from '../operation-command.ts';
import { printable } from '../text.ts';
import { followEntries, readHeadSeq } from '../run/follow-entries.ts';
import { fieldsIn, numberIn, textIn, type Fields } from '../run/read-fields.ts';
import { parseAgent, shortId, type AgentView } from '../run/views.ts';
import { openTerminalConnection } from './terminal.ts';
import { runInTerminal } from './run-in-terminal.ts';

/**
 * The conversation of an agent in its client's own interactive mode, in this terminal. Its supervisor waits for us and knows that we are
 * here as long as the line to it is open; however this ends, the conversation goes back to Baton.
 */
export async function attachTerminal(agent: AgentView, given: ParsedArguments, io: Io): Promise<number> {
  const by = terminalUser();
  io.err(
    `Bringing ${printable(agent.name)} ${shortId(agent.id)} into this terminal; what it does now is interrupted.\n`,
  );
  const ready = await withClient(given, io, async (client) => requestTerminal(client, agent.id, by));
  if ('error' in ready) return reportError(ready.error, given, io);
  const opened = await openTerminalConnection(ready, { by, env: pickTerminalVariables(io.env) });
  if (!opened.ok) return reportError(connectionError(agent, opened.reason), given, io);
  const { line } = opened;
  const ran = await runInTerminal(line.launch, line.broken);
  // One that was ended from outside has not tidied up.
  if (!ran.ok || ran.code !== 0) io.err(PLAIN_SCREEN);
  await line.leave(ran.ok ? ran.code : null);
  if (!ran.ok) return reportError(connectionError(agent, `${line.launch.argv[0] ?? ''}: ${ran.reason}`), given, io);
  if (ran.code !== 0)
    io.err(`\n${printable(line.launch.argv[0] ?? '')} ended with ${ran.signal ?? `code ${ran.code}`}.`);
  io.err(`\n${await describeAgentNow(agent, given, io)} See: baton agent show ${shortId(agent.id)}\n`);
  return EXIT.ok;
}

/** It may have come to its end while we had it. A daemon that is away hears of everything later. */
async function describeAgentNow({ id, name }: AgentView, given: ParsedArguments, io: Io): Promise<string> {
  const client = createObserver(given, io);
  try {
    const answer = await client.call('agent_show', { id });
    const { outcome } = parseAgent(fieldsIn(answer.ok ? answer.result : {}));
    if (outcome !== null) return `The run of ${printable(name)} is over: ${printable(outcome)}.`;
    return `Baton has the conversation of ${printable(name)} back.`;
  } finally {
    client.close();
  }
}

/** The main screen, with a cursor, plain colours, and without the reports that clients ask of a terminal. */
const PLAIN_SCREEN =
  '\u001B[?1049l\u001B[?25h\u001B[?2004l\u001B[?1000l\u001B[?1002l\u001B[?1003l\u001B[?1006l\u001B[?1004l\u001B[<u\u001B[0m';

type Ready = { readonly folder: string; readonly start: number } | { readonly error: ApiError };

/** Asks for the conversation, and waits until the process that has it has stopped. */
async function requestTerminal(client: Client, id: string, by: string): Promise<Ready> {
  const after = await readHeadSeq(client);
  const answer = await client.call('agent_attach', { id, by });
  if (!answer.ok) return { error: answer.error };
  const said = fieldsIn(answer.result);
  const start = numberIn(said['start']);
  const ready = { folder: textIn(said['folder']), start };
  const entries = followEntries(client, { after, signal: AbortSignal.timeout(STOP_MS) });
  for await (const { type, data } of entries) {
    if (textIn(data['agent_id']) !== id) continue;
    if (type === 'AgentStarted' && numberIn(data['start']) === start) return ready;
    const reason = findRefusalReason(type, data);
    if (reason !== undefined) return { error: notAttached(id, reason) };
  }
  return { error: notAttached(id, 'it was not brought to a stop in time') };
}

/** Longer than a client has between being asked to stop and being killed. */
const STOP_MS = 120_000;

function findRefusalReason(type: string, data: Fields): string | undefined {
  if (type === 'AgentStartFailed') return textIn(data['reason']);
  return type === 'AgentEnded' ? `its run is over: ${textIn(data['outcome'])}` : undefined;
}

function notAttached(id: string, reason: string): ApiError {
  const hint = `See: baton agent show ${shortId(id)}`;
  return { code: 'not-attached', message: `agent ${id} could not be attached: ${reason}`, hint };
}

function connectionError({ id }: AgentView, reason: string): ApiError {
  return notAttached(id, reason);
}

/** For the record, and for whoever asks for the same agent meanwhile. */
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
