import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processesInside } from '../bubblewrap/processes-inside.ts';
import { findSystemProgram } from '../system-program.ts';

/** A command in the second sandbox. */
export interface RunningCommand {
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Resolves to the exit code when no process of the command is left and its output has been read. */
  readonly exited: Promise<number>;
  /** Sends a signal to the processes of the command. */
  signal(name: string): void;
  /** Ends the command with everything that it started. Resolves when it has exited. */
  kill(): Promise<unknown>;
}

/**
 * Starts a prepared command. Its streams are pipes of the file system: the pipes of Node are sockets, which a program
 * cannot open again as `/dev/stdout`. `folder` holds them, and is used for one command at a time.
 */
export async function runCommand(
  argv: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<RunningCommand> {
  const [program = '', ...args] = argv;
  const [stdin, stdout, stderr] = await makePipes(folder);
  const child = spawn(program, args, {
    cwd: '/',
    env,
    detached: true,
    stdio: [stdin.inside, stdout.inside, stderr.inside],
  });
  for (const { inside } of [stdin, stdout, stderr]) closeSync(inside);
  const streams = {
    stdin: new Socket({ fd: stdin.outside, readable: false, writable: true }),
    stdout: new Socket({ fd: stdout.outside, readable: true, writable: false }),
    stderr: new Socket({ fd: stderr.outside, readable: true, writable: false }),
  };
  for (const stream of Object.values(streams)) stream.on('error', () => {});
  const closed = [streams.stdout, streams.stderr].map(
    async (stream) => new Promise<void>((resolve) => void stream.once('close', () => resolve())),
  );
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(NOT_STARTED));
    child.once('exit', (code) => resolve(code ?? KILLED));
  });
  const exited = ended.then(async (code) => {
    streams.stdin.destroy();
    await Promise.all(closed);
    return code;
  });
  return {
    ...streams,
    exited,
    signal: (name) => {
      if (!isSignal(name) || child.pid === undefined) return;
      for (const pid of processesInside(child.pid)) sendSignal(pid, name);
    },
    kill: async () => {
      // The end of bubblewrap is the end of the command's namespace.
      child.kill('SIGKILL');
      for (const stream of [streams.stdout, streams.stderr]) stream.resume();
      return exited;
    },
  };
}

const NOT_STARTED = 127;
const KILLED = 137;

interface Pipe {
  /** The descriptor that the command gets. */
  readonly inside: number;
  readonly outside: number;
}

async function makePipes(folder: string): Promise<readonly [Pipe, Pipe, Pipe]> {
  const paths = ['stdin', 'stdout', 'stderr'].map((name) => join(folder, name));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!paths.every((path) => existsSync(path)))
    await promisify(execFile)(findSystemProgram('mkfifo', process.env) ?? 'mkfifo', ['-m', '600', ...paths]);
  const [stdin = '', stdout = '', stderr = ''] = paths;
  return [openPipe(stdin, 'r', 'w'), openPipe(stdout, 'w', 'r'), openPipe(stderr, 'w', 'r')];
}

/** Opening one end would wait for the other, unless a third descriptor is both. Each end is a description of its own. */
function openPipe(path: string, inside: 'r' | 'w', outside: 'r' | 'w'): Pipe {
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    return { inside: openSync(path, inside), outside: openSync(path, outside === 'w' ? constants.O_WRONLY : 'r') };
  } finally {
    closeSync(both);
  }
}

function isSignal(name: string): name is (typeof SIGNALS)[number] {
  return SIGNALS.some((each) => each === name);
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited.
  }
}
