import { readFileSync } from 'node:fs';
import type { Client } from '../../api/client/client.ts';
import { redactTokens } from '../../protocol/redact-tokens.ts';
import { followEntries } from '../run/follow-entries.ts';
import { fieldsIn } from '../run/read-fields.ts';
import { parseAgent, type AgentView } from '../run/views.ts';
import { FileChangeSignal, followFile } from './follow-file.ts';
import { LogLines } from './log-lines.ts';

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
  const log = agent.log ?? '';
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
    const now = answer.ok ? parseAgent(fieldsIn(answer.result)) : undefined;
    if (now !== undefined && isAgentOver(now)) return now;
  }
  return undefined;
}

/** Nobody waits for it any more, and its process has gone. One that waits for a person may go on. */
export function isAgentOver({ outcome, process }: AgentView): boolean {
  return outcome !== null && process !== 'running';
}
