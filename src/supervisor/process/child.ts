import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import type { Writable } from 'node:stream';
import type { Launch } from '../contract.ts';

export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Says something on its standard input. False where nobody can hear it there. */
  writeMessage(text: string): Promise<boolean>;
  /** Nothing more will be said: a client that waits for the next message leaves. */
  endInput(): void;
}

export type SpawnResult =
  | { readonly ok: true; readonly child: Child }
  | { readonly ok: false; readonly reason: string };

/** Starts the process in a group of its own, with pipes for what it says and hears. */
export async function startChild(launch: Launch, env: NodeJS.ProcessEnv): Promise<SpawnResult> {
  const [program = '', ...args] = launch.argv.map((word) => fillUrl(word, env['BATON_URL'] ?? ''));
  let child: ChildProcess;
  try {
    child = spawn(program, args, { cwd: launch.cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    return { ok: false, reason: describeSpawnError(error, program, launch) };
  }
  const reason = await new Promise<string | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined));
    child.once('error', (error) => resolve(describeSpawnError(error, program, launch)));
  });
  if (reason !== undefined || child.pid === undefined) return { ok: false, reason: reason ?? 'it has no process' };
  // Whoever does not read what it is told, or goes away meanwhile, is no failure of ours.
  child.stdin?.on('error', () => {});
  child.on('error', () => {});
  if (launch.input === 'none') child.stdin?.end();
  return {
    ok: true,
    child: {
      pid: child.pid,
      process: child,
      writeMessage: messageWriter(launch, child),
      endInput: () => void child.stdin?.end(),
    },
  };
}

/** `spawn claude ENOENT` says neither what is missing nor what to do about it. */
function describeSpawnError(error: unknown, program: string, { cwd, env }: Launch): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) return message;
  if (!existsSync(cwd)) return `the folder it runs in is not there: ${cwd}`;
  if (program.includes('/')) return `there is no program ${program}`;
  if (env['PATH'] !== undefined) return `${program} is not on the PATH that the agent's env sets`;
  return `${program} is not on the daemon's PATH. Install it, or start the daemon where it is found: baton down && baton up`;
}

function messageWriter({ input }: Launch, { stdin }: ChildProcess): Child['writeMessage'] {
  return async (text) => {
    if (stdin === null || !stdin.writable || input === 'none') return false;
    if (input === 'once') return writeOnlyMessage(stdin, text);
    const line = input === 'text' ? text : JSON.stringify({ type: 'user', message: { role: 'user', content: text } });
    return new Promise((resolve) => {
      // A process that reads nothing has it in its pipe: that is as far as anybody can bring it.
      const isTaken = stdin.write(`${line}\n`, (error) => resolve(error === null || error === undefined));
      if (!isTaken) setTimeout(() => resolve(true), WRITE_TIMEOUT_MS).unref();
    });
  };
}

const WRITE_TIMEOUT_MS = 1000;

/** A program that reads to the end before it begins hears the first message, and no other. */
async function writeOnlyMessage(stdin: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.once('error', () => resolve(false));
    stdin.end(text, () => resolve(true));
  });
}

/** Only the supervisor knows where it listens. */
export function fillUrl(text: string, url: string): string {
  return text.replaceAll('${BATON_URL}', url);
}

/** What the process finds in its environment: that of the supervisor, the launch's, and how it reaches us. */
export function childEnvironment(launch: Launch, bin: string, url: string, ours = process.env): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE: ofBaton, ...inherited } = ours;
  const isOurs = ofBaton?.startsWith(launch.state_dir) === true;
  const all: NodeJS.ProcessEnv = {
    ...inherited,
    ...(isOurs || ofBaton === undefined ? {} : { NODE_COMPILE_CACHE: ofBaton }),
    ...launch.env,
    ...(launch.kind === 'agent'
      ? { BATON_AGENT_ID: launch.id, BATON_SESSION: launch.env['BATON_SESSION'] ?? launch.id }
      : { BATON_COMMAND_ID: launch.id }),
    BATON_TOKEN: launch.agent_token,
    BATON_URL: url,
    BATON_STATE_DIR: launch.state_dir,
  };
  all['PATH'] = [bin, all['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}

/** What everything that the process starts has in its environment, also where it leaves the group. */
export function environmentMark({ kind, id }: Pick<Launch, 'kind' | 'id'>): string {
  return `${kind === 'agent' ? 'BATON_AGENT_ID' : 'BATON_COMMAND_ID'}=${id}`;
}

/** Variables, as a process has them. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * What belongs to a terminal and to whoever sits there. That nobody does, since a build server runs this, is of the same kind: clients
 * that find `CI` wait for no words.
 */
const TERMINAL_VARIABLES =
  /^(?:TERM|TERM_.*|COLORTERM|COLORFGBG|NO_COLOR|FORCE_COLOR|LANG|LANGUAGE|LC_.*|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|SSH_(?:CLIENT|CONNECTION|TTY)|TMUX|TMUX_PANE|STY|EDITOR|VISUAL|PAGER|BROWSER|VTE_VERSION|WT_SESSION|KITTY_.*|ITERM_.*|LINES|COLUMNS|CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS)$/;

/** Those of a person's terminal. */
export function pickTerminalVariables(env: Variables): Record<string, string> {
  return pick(env, (name) => TERMINAL_VARIABLES.test(name));
}

/** All the others: a daemon that was started elsewhere knows nothing of the terminal in which somebody sits now. */
export function dropTerminalVariables(env: Variables): Record<string, string> {
  return pick(env, (name) => !TERMINAL_VARIABLES.test(name));
}

function pick(env: Variables, isMeant: (name: string) => boolean): Record<string, string> {
  const has = (pair: [string, string | undefined]): pair is [string, string] => pair[1] !== undefined;
  return Object.fromEntries(
    Object.entries(env)
      .filter((pair) => has(pair))
      .filter(([name]) => isMeant(name)),
  );
}
