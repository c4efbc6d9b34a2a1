import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Client } from '../../api/client/client.ts';
import type { AgentView } from '../../api/run-views.ts';
import { redactTokens } from '../../protocol/redact-tokens.ts';
import { createObserver, withClient } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, numberOption, reportError } from '../operation-command.ts';
import { followEntries, readHeadSeq, untilInterrupted } from '../run/follow-entries.ts';
import { printable } from '../text.ts';
import { agentArgument } from './agents.ts';
import { FileChangeSignal, followFile } from './follow-file.ts';

export const agentLogsCommand: CliCommand = {
  examples: ['baton agent logs 5d0e7b41', 'baton agent logs 5d0e7b41 -f -n 20'],
  args: [agentArgument],
  options: [
    { name: 'follow', short: 'f', about: 'Go on with what it prints from now on, until it has gone' },
    { name: 'lines', short: 'n', value: 'N', about: 'Only the last N lines of what is there' },
    ...COMMON_OPTIONS.map((option) =>
      option.name === 'json' ? { ...option, about: 'Print each line as JSON' } : option,
    ),
  ],
  exitCodes: { 0: 'shown, to the end', 1: 'there is no such agent', 130: 'you left with Ctrl-C' },
  async run(given, io) {
    const lines = numberOption(given, 'lines');
    if ('usage' in lines || (lines.value !== undefined && (lines.value < 0 || !Number.isInteger(lines.value)))) {
      io.err('Error: --lines must be a number from 0\nTry: baton agent logs --help\n');
      return EXIT.usage;
    }
    const { answer, after } = await withClient(given, io, async (client) => {
      const head = await readHeadSeq(client);
      return { answer: await client.call('agent_show', { id: given.args[0] ?? '' }), after: head };
    });
    if (!answer.ok) return reportError(answer.error, given, io);
    const agent = answer.result;
    const asJson = given.options.has('json');
    const onLine = (line: string): void => io.out(asJson ? `${JSON.stringify({ line })}\n` : `${line}\n`);
    if (!given.options.has('follow')) {
      await readLog(agent.log, lines.value, onLine);
      return EXIT.ok;
    }
    using interrupt = untilInterrupted();
    const client = createObserver(given, io);
    try {
      await followLog(agent, client, { after, signal: interrupt.signal, lines: lines.value, onLine });
      return interrupt.signal.aborted ? EXIT.interrupted : EXIT.ok;
    } finally {
      client.close();
    }
  },
};

export interface FollowLogOptions {
  /** The newest entry when the agent was looked at. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** How many of the last lines that are there; all where it is left out. */
  readonly lines?: number | undefined;
  readonly onLine: (line: string) => void;
}

/**
 * The lines of an agent's log as it writes them, until its run is over and everything is said. Gives back how the agent stood then;
 * undefined where the following was called off, or the daemon is gone for good.
 */
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

/** Everything that is in a log now. */
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

/** Where the last so many lines begin. */
function tailOffset(log: string, lines: number | undefined): number {
  if (lines === undefined) return 0;
  try {
    const bytes = readFileSync(log);
    let at = bytes.length;
    // A newline at the very end ends the last line, and begins none.
    for (let left = lines; left > 0 && at > 0; left--) at = bytes.lastIndexOf(10, at - 2) + 1;
    return at;
  } catch {
    return 0;
  }
}

interface EndOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  readonly onEntry: () => void;
}

async function waitForEnd(agent: AgentView, client: Client, options: EndOptions): Promise<AgentView | undefined> {
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

/** Nobody waits for it any more, and its process has gone. One that waits for a person may go on. */
export function isAgentOver({ outcome, process }: AgentView): boolean {
  return outcome !== null && process !== 'running';
}

/** Turns the bytes of a log into lines that are safe to print, as they come. */
export class LogLines {
  readonly #decoder = new TextDecoder();
  #rest = '';

  push(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    // A line without an end is shown in parts: nobody knows whether it will ever have one.
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines.map(safeLine);
  }

  /** What is left when nothing more will come. */
  end(): string[] {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = '';
    return rest === '' ? [] : [safeLine(rest)];
  }
}

const MAX_LINE = 65_536;

/** What a terminal would show of the line, without obeying it: of a progress bar its last state. */
function safeLine(line: string): string {
  const plain = stripVTControlCharacters(line).replace(/\r+$/, '');
  return printable(plain.slice(plain.lastIndexOf('\r') + 1));
}
