import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { AgentDetails } from '../../api/operations/runs.ts';
import type { AgentView } from '../../api/run-views.ts';
import { redactTokens } from '../../protocol/redact-tokens.ts';
import { createObserver, withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, numberOption, reportError } from '../operation-command.ts';
import { followEntries, readHeadSeq, untilInterrupted } from '../run/follow-entries.ts';
import { printable } from '../text.ts';
import { agentArgument } from './agents.ts';
import { FileChangeSignal, followFile } from './follow-file.ts';

export const agentLogsCommand: CliCommand = {
  examples: ['baton agent logs 5d0e7b41', 'baton agent logs 5d0e7b41 -f -n 20'],
  args: [agentArgument],
  options: [
    { name: 'follow', short: 'f', about: 'Keep printing new output until the agent ends' },
    { name: 'lines', short: 'n', value: 'N', about: 'Start with the last N lines' },
    ...COMMON_OPTIONS.map((option) =>
      option.name === 'json' ? { ...option, about: 'Print each line as JSON' } : option,
    ),
  ],
  exitCodes: { 0: 'shown to the end', 1: 'no such agent', 130: 'interrupted with Ctrl-C' },
  async run(given, io) {
    const lines = numberOption(given, 'lines');
    if ('usage' in lines || (lines.value !== undefined && (lines.value < 0 || !Number.isInteger(lines.value)))) {
      return { usage: '--lines must be a whole number from 0' };
    }
    const { answer, after } = await readAgent(given, io);
    if (!answer.ok) return reportError(answer.error, given, io);
    const agent = answer.result;
    const asJson = given.options.has('json');
    const onLine = (line: string): void => io.out(asJson ? `${JSON.stringify({ line })}\n` : `${line}\n`);
    if (!given.options.has('follow')) {
      await readLog(agent.log, lines.value, onLine);
      return EXIT.ok;
    }
    using interrupt = untilInterrupted();
    using client = createObserver(given, io);
    await followLog(agent, client, { after, signal: interrupt.signal, lines: lines.value, onLine });
    return interrupt.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
};

/** Reads the agent that the command line names. `after` is the newest entry before that, so that no later one is missed. */
export async function readAgent(
  { args: [id = ''], options }: ParsedArguments,
  io: Io,
): Promise<{ readonly answer: Answer<AgentDetails>; readonly after: number }> {
  return withClient({ args: [], options }, io, async (client) => {
    const after = await readHeadSeq(client);
    return { answer: await client.call('agent_show', { id }), after };
  });
}

export interface FollowLogOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  /** Start with this many of the last lines; undefined for all. */
  readonly lines?: number | undefined;
  readonly onLine: (line: string) => void;
}

/** Reports log lines until the agent ends; returns its last state, or undefined if aborted or the daemon is gone. */
export async function followLog(
  agent: AgentView,
  client: Client,
  { after, signal, lines, onLine }: FollowLogOptions,
): Promise<AgentView | undefined> {
  const { log } = agent;
  const over = new AbortController();
  const leaving = AbortSignal.any([signal, over.signal]);
  const bell = new FileChangeSignal(log);
  const ending = waitForEnd(agent, client, { after, signal: leaving, onEntry: () => bell.ring() }).finally(() =>
    over.abort(),
  );
  await printLog(log, { signal: leaving, bell, from: tailOffset(log, lines) }, onLine);
  return ending;
}

export async function readLog(log: string, lines: number | undefined, onLine: (line: string) => void): Promise<void> {
  await printLog(log, { signal: new AbortController().signal, once: true, from: tailOffset(log, lines) }, onLine);
}

async function printLog(
  log: string,
  options: Parameters<typeof followFile>[1],
  onLine: (line: string) => void,
): Promise<void> {
  const lines = new LogLines();
  // Logs of earlier versions may still hold tokens.
  const show = (line: string): void => onLine(redactTokens(line));
  for await (const bytes of followFile(log, options)) for (const line of lines.push(bytes)) show(line);
  for (const line of lines.end()) show(line);
}

function tailOffset(log: string, lines: number | undefined): number {
  if (lines === undefined) return 0;
  try {
    const bytes = readFileSync(log);
    let at = bytes.length;
    // A newline at the very end starts no further line.
    for (let left = lines; left > 0 && at > 0; left--) at = bytes.lastIndexOf(10, at - 2) + 1;
    return at;
  } catch {
    return 0;
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

/** Splits the bytes of a log into lines that are safe to print. */
export class LogLines {
  readonly #decoder = new TextDecoder();
  #rest = '';

  push(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    // A long line is printed in parts: it may never end.
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines.map(safeLine);
  }

  end(): string[] {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = '';
    return rest === '' ? [] : [safeLine(rest)];
  }
}

const MAX_LINE = 65_536;

/** The line as a terminal would show it, without control characters; of a progress bar, its last state. */
function safeLine(line: string): string {
  const plain = stripVTControlCharacters(line).replace(/\r+$/, '');
  return printable(plain.slice(plain.lastIndexOf('\r') + 1));
}
