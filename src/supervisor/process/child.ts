import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { type Launch, SECRET_PREFIX } from '../contract.ts';

export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Writes a message to standard input. Resolves to false if the process cannot receive it. */
  writeMessage(text: string): Promise<boolean>;
  endInput(): void;
}

type WrappedCommand =
  | { readonly ok: true; readonly argv: readonly string[]; readonly env: NodeJS.ProcessEnv }
  | { readonly ok: false; readonly reason: string };

export type SpawnResult =
  | { readonly ok: true; readonly child: Child }
  | { readonly ok: false; readonly reason: string };

export interface Wrapping {
  /** Wraps the command for a sandbox. */
  readonly wrap: (argv: readonly string[]) => WrappedCommand;
  readonly hasProgramsOfMachine: boolean;
}

export async function startChild(
  launch: Launch,
  env: NodeJS.ProcessEnv,
  { wrap, hasProgramsOfMachine }: Wrapping = { wrap: (argv) => ({ ok: true, argv, env }), hasProgramsOfMachine: true },
): Promise<SpawnResult> {
  const own = launch.argv.map((word) => fillUrl(word, env['BATON_URL'] ?? ''));
  const [program = ''] = own;
  let child: ChildProcess;
  try {
    // A sandbox would start and report a missing program in its own words, so this checks first.
    if (hasProgramsOfMachine && !isOnPath(program, launch.cwd, env))
      throw Object.assign(new Error(program), { code: 'ENOENT' });
    const wrapped = wrap(own);
    if (!wrapped.ok) return wrapped;
    const [first = '', ...args] = wrapped.argv;
    child = spawn(first, args, { cwd: launch.cwd, env: wrapped.env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    return { ok: false, reason: describeSpawnError(error, program, launch) };
  }
  const reason = await new Promise<string | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined));
    child.once('error', (error) => resolve(describeSpawnError(error, program, launch)));
  });
  if (reason !== undefined || child.pid === undefined) return { ok: false, reason: reason ?? 'it has no process' };
  // A process that does not read its input, or exits meanwhile, is not an error.
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

function isOnPath(program: string, cwd: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  if (program.includes('/')) return existsSync(resolve(cwd, program));
  return PATH.split(delimiter).some((folder) => existsSync(resolve(cwd, folder, program)));
}

/** Explains a spawn error: Node's `spawn claude ENOENT` states neither what is missing nor what to do. */
function describeSpawnError(error: unknown, program: string, { cwd, env }: Launch): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) return message;
  if (!existsSync(cwd)) return `its working directory does not exist: ${cwd}`;
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
      // A message counts as delivered once it is in the pipe, even if the process does not read it.
      const isTaken = stdin.write(`${line}\n`, (error) => resolve(error === null || error === undefined));
      if (!isTaken) setTimeout(() => resolve(true), WRITE_TIMEOUT_MS).unref();
    });
  };
}

/** Writes the only message of a program that reads its input to the end. */
async function writeOnlyMessage(stdin: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.once('error', () => resolve(false));
    stdin.end(text, () => resolve(true));
  });
}

export function fillUrl(text: string, url: string): string {
  return text.replaceAll('${BATON_URL}', url);
}

/** The process's environment: the supervisor's, the launch's, and the variables to reach this supervisor. */
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
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => value !== '' && !name.startsWith(SECRET_PREFIX)),
  );
}

/** The variable that every descendant inherits, even outside the process group. */
export function environmentMark({ kind, id }: Pick<Launch, 'kind' | 'id'>): string {
  return `${kind === 'agent' ? 'BATON_AGENT_ID' : 'BATON_COMMAND_ID'}=${id}`;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Variables of a terminal and its user. `CI` is included, because clients that find it do not wait for input. */
const TERMINAL_VARIABLES =
  /^(?:TERM|TERM_.*|COLORTERM|COLORFGBG|NO_COLOR|FORCE_COLOR|LANG|LANGUAGE|LC_.*|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|SSH_(?:CLIENT|CONNECTION|TTY)|TMUX|TMUX_PANE|STY|EDITOR|VISUAL|PAGER|BROWSER|VTE_VERSION|WT_SESSION|KITTY_.*|ITERM_.*|LINES|COLUMNS|CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS)$/;

export function pickTerminalVariables(env: Variables): Record<string, string> {
  return pick(env, (name) => TERMINAL_VARIABLES.test(name));
}

/** All other variables: the daemon's environment does not describe the user's terminal. */
export function dropTerminalVariables(env: Variables): Record<string, string> {
  return pick(env, (name) => !TERMINAL_VARIABLES.test(name));
}

function pick(env: Variables, isMeant: (name: string) => boolean): Record<string, string> {
  const isPicked = (pair: [string, string | undefined]): pair is [string, string] =>
    pair[1] !== undefined && isMeant(pair[0]);
  return Object.fromEntries(Object.entries(env).filter(isPicked));
}

const WRITE_TIMEOUT_MS = 1000;
