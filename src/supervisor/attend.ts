import { existsSync } from 'node:fs';
import { nameProcess } from '../api/process-identity.ts';
import { aboutNoTerminal } from './about-terminal.ts';
import { childEnvironment, fillUrl, markOf } from './child.ts';
import type { AgentReport, Exit, filesIn, Launch, Running } from './contract.ts';
import type { Counterpart } from './counterpart.ts';
import { endProcesses } from './process-tree.ts';
import type { Gone, Guest, TerminalLine } from './terminal-line.ts';

export interface Attending {
  readonly launch: Launch;
  readonly files: ReturnType<typeof filesIn>;
  readonly agent: Counterpart;
  readonly line: TerminalLine;
  readonly port: number;
  /** Writes down that it runs. */
  readonly announce: (running: Running) => Promise<void>;
}

type How = Extract<AgentReport, { kind: 'detached' }>['how'];

/**
 * A process that a person has in their own terminal: their command starts it, since only a process of theirs can have it, and we are its
 * counterpart all the same. Hooks, calls and the claim are here; when they leave, or are gone in whatever way, everything that was
 * started goes too, and Baton has the conversation back.
 */
export async function attend({ launch, files, agent, line, port, announce }: Attending): Promise<Exit> {
  const { start, kill_after_ms } = launch;
  const supervisor = nameProcess(process.pid);
  const running: Running = { start, supervisor, process: NO_PROCESS, port };
  await announce(running);
  agent.begin(undefined, running);
  // No group is ours to end: the person's own command, and their shell, may be in it.
  const tree = { leader: NO_GROUP, mark: markOf(launch) };
  const ended = Promise.withResolvers<'ended'>();
  agent.onEnd(async () => {
    await endProcesses(tree, kill_after_ms);
    ended.resolve('ended');
  });
  const watching = setInterval(() => existsSync(files.folder) || void agent.end(), FOLDER_MS);
  const guest = await Promise.race([line.arrival, pause(launch.arrival_ms ?? ARRIVAL_MS), ended.promise]);
  const gone =
    typeof guest === 'object' ? await entertain(guest, launch, files, agent, ended.promise, port) : undefined;
  clearInterval(watching);
  await agent.rest();
  await endProcesses(tree, kill_after_ms);
  const how = typeof gone === 'object' ? gone.how : gone === 'ended' || guest === 'ended' ? 'ended' : 'absent';
  await conclude(agent, start, how);
  if (typeof guest === 'object') guest.close();
  const code = typeof gone === 'object' && gone.how === 'left' ? gone.code : null;
  const signal = code === null ? (how === 'absent' ? null : 'SIGHUP') : null;
  return { start, code: how === 'absent' ? 0 : code, signal, timed_out: false, blocks_used: false, output: null };
}

const NO_PROCESS = '?/0/?';
const NO_GROUP = -1;
const FOLDER_MS = 5000;
/** Between the moment when the terminal is awaited and the one when it comes lie a few milliseconds. */
const ARRIVAL_MS = 30_000;

async function entertain(
  guest: Guest,
  launch: Launch,
  files: Attending['files'],
  agent: Counterpart,
  ended: Promise<'ended'>,
  port: number,
): Promise<Gone | 'ended'> {
  const url = `http://127.0.0.1:${port}`;
  const ofAgent = childEnvironment(launch, files.bin, url, aboutNoTerminal(process.env));
  const env = Object.entries({ ...ofAgent, ...guest.env });
  // On record before it can do anything.
  await agent.report({ kind: 'attached', start: launch.start, by: guest.by });
  guest.open({
    argv: launch.argv.map((word) => fillUrl(word, url)),
    cwd: launch.cwd,
    env: Object.fromEntries(env.filter((pair): pair is [string, string] => pair[1] !== undefined)),
  });
  agent.opened();
  return Promise.race([guest.gone, ended]);
}

async function conclude(agent: Counterpart, start: number, how: How): Promise<void> {
  await agent.conclude(null);
  await agent.report({ kind: 'detached', start, how, talked: agent.hasTalked });
}

async function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}
