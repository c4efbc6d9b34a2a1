import { existsSync, readFileSync } from 'node:fs';
import type { Answer, ApiError } from '../../api/answer.ts';
import { FileChangeSignal } from '../../api/file-change-signal.ts';
import type { Client } from '../../api/client/client.ts';
import type { AgentDetails } from '../../api/operations/runs.ts';
import type { AgentView } from '../../api/run-views.ts';
import { object, text } from '../../protocol/shape/build-shape.ts';
import { createObserver, withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type Option, type ParsedArguments, type UsageError } from '../command.ts';
import { COMMON_OPTIONS, reportError, wholeOption } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { followEntries, readHeadSeq, untilInterrupted } from '../run/follow-entries.ts';
import { wantsColors } from '../status/paint.ts';
import { shortId } from '../text.ts';
import { agentArgument } from './agents.ts';
import { followFile } from './follow-file.ts';
import { type LogView, rawLogView, readableLogView } from './log-view.ts';

export const LOG_OPTIONS: readonly Option[] = [
  { name: 'follow', short: 'f', about: 'Keep printing new output until the agent ends' },
  { name: 'lines', short: 'n', value: 'N', about: 'Start with the last N lines' },
  { name: 'raw', about: 'Print the lines as the client printed them: JSON for Claude Code, Codex and Gemini CLI' },
];
/** With `--json`, programs get the client's own lines instead of the text for people. */
const JSON_LINES_OPTION: Option = { name: 'json', about: 'Print each line, as with --raw, as JSON: {"line": …}' };

export const agentLogsCommand: CliCommand = {
  examples: ['baton agent logs 5d0e7b41', 'baton agent logs 5d0e7b41 -f -n 20', 'baton agent logs 5d0e7b41 --raw'],
  args: [agentArgument],
  options: [...LOG_OPTIONS, ...COMMON_OPTIONS.map((option) => (option.name === 'json' ? JSON_LINES_OPTION : option))],
  json: [{ lines: true, shape: object({ line: { ...text, about: 'A line as the client printed it.' } }) }],
  exitCodes: { 0: 'printed; with -f: the agent has ended', 1: 'no such agent', 130: 'interrupted with Ctrl-C' },
  async run(given, io) {
    const lines = parseLineCount(given);
    if ('usage' in lines) return lines;
    const { answer, after } = await readAgent(given, io);
    if (!answer.ok) return reportError(answer.error, given, io);
    const agent = answer.result;
    const elsewhere = findElsewhere(agent);
    if (elsewhere !== undefined) return reportProblem(elsewhere, io);
    const asJson = given.options.has('json');
    const onLine = (line: string): void => io.out(asJson ? `${JSON.stringify({ line })}\n` : `${line}\n`);
    const view = given.options.has('raw') || asJson ? rawLogView() : readableLogView(agent, wantsColors(io));
    if (!given.options.has('follow')) {
      await readLog(agent.log, { lines: lines.value, onLine, view });
      return EXIT.ok;
    }
    using interrupt = untilInterrupted();
    using client = createObserver(given, io);
    await followLog(agent, client, { after, signal: interrupt.signal, lines: lines.value, onLine, view });
    return interrupt.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
};

/** Returns an error if the agent is on another host, where its log and conversation stay. */
export function findElsewhere({ id, host, process, folder }: AgentView): ApiError | undefined {
  if (host === undefined || process === 'wanted' || existsSync(folder)) return undefined;
  return {
    code: 'log-elsewhere',
    message: `agent ${shortId(id)} is on host ${host}`,
    hint: `Run the command on that host, or see: baton agent show ${shortId(id)}`,
  };
}

export function parseLineCount(given: ParsedArguments): { readonly value?: number } | UsageError {
  return wholeOption(given, 'lines', { from: 0 });
}

/** Reads the named agent. `after` is the newest entry before that, so that no later one is missed. */
export async function readAgent(
  { args: [id = ''], options }: ParsedArguments,
  io: Io,
): Promise<{ readonly answer: Answer<AgentDetails>; readonly after: number }> {
  return withClient({ args: [], options }, io, async (client) => {
    const after = await readHeadSeq(client);
    return { answer: await client.call('agent_show', { id }), after };
  });
}

export interface LogOptions {
  /** How many of the last lines to start with; undefined for all. */
  readonly lines?: number | undefined;
  readonly onLine: (line: string) => void;
  readonly view: LogView;
}

interface FollowLogOptions extends LogOptions {
  readonly after: number;
  readonly signal: AbortSignal;
}

/**
 * Reports log lines until the agent ends. Returns the agent's last state; undefined if aborted or if the daemon is
 * unavailable.
 */
export async function followLog(
  agent: AgentView,
  client: Client,
  { after, signal, ...options }: FollowLogOptions,
): Promise<AgentView | undefined> {
  const over = new AbortController();
  const leaving = AbortSignal.any([signal, over.signal]);
  const bell = new FileChangeSignal(agent.log);
  const ending = waitForEnd(agent, client, { after, signal: leaving, onEntry: () => bell.ring() }).finally(() =>
    over.abort(),
  );
  await followLogFile(agent.log, { signal: leaving, bell, ...options });
  return ending;
}

export interface FollowFileLines extends LogOptions {
  /** Ends when everything written so far is reported. */
  readonly signal: AbortSignal;
  readonly bell: FileChangeSignal;
}

export async function followLogFile(
  log: string,
  { signal, bell, lines, onLine, view }: FollowFileLines,
): Promise<void> {
  const before = lines === undefined ? NO_BYTES : readIfPresent(log);
  for (const line of lastOf(view.push(before), lines)) onLine(line);
  for await (const bytes of followFile(log, { signal, bell, from: before.length }))
    for (const line of view.push(bytes)) onLine(line);
  for (const line of view.end()) onLine(line);
}

export async function readLog(log: string, { lines, onLine, view }: LogOptions): Promise<void> {
  const shown: string[] = [];
  const show = lines === undefined ? onLine : (line: string): void => void shown.push(line);
  for await (const bytes of followFile(log, { signal: new AbortController().signal, once: true }))
    for (const line of view.push(bytes)) show(line);
  for (const line of view.end()) show(line);
  for (const line of lastOf(shown, lines)) onLine(line);
}

function lastOf(lines: readonly string[], count: number | undefined): readonly string[] {
  return count === undefined ? lines : lines.slice(Math.max(0, lines.length - count));
}

const NO_BYTES = Buffer.alloc(0);

/** A log is a few megabytes at most. */
function readIfPresent(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return NO_BYTES;
  }
}

async function waitForEnd(
  agent: AgentView,
  client: Client,
  options: { readonly after: number; readonly signal: AbortSignal; readonly onEntry: () => void },
): Promise<AgentView | undefined> {
  if (isAgentOver(agent)) return agent;
  for await (const { type, data } of followEntries(client, options)) {
    if (data['agent_id'] !== agent.id) continue;
    options.onEntry();
    if (type !== 'AgentExited' && type !== 'AgentEnded') continue;
    const answer = await client.call('agent_show', { id: agent.id });
    if (answer.ok && isAgentOver(answer.result)) return answer.result;
  }
  return undefined;
}

/** An agent that waits for a person has no outcome yet. */
export function isAgentOver({ outcome, process }: AgentView): boolean {
  return outcome !== null && process !== 'running';
}
