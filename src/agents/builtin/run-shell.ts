import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandSpec } from '../../protocol/sandbox.ts';
import { openSandbox, type OpenSandbox, type SandboxResult } from '../../sandbox/open-sandbox.ts';

/** The purpose of a project command. The network policy depends on it. */
type CommandPurpose = 'install' | 'check';

/**
 * The sandboxes for the project's commands, in a file that the daemon writes and BATON_COMMAND_SANDBOX names. A
 * built-in role is trusted, but the commands that it runs are not.
 */
export interface CommandSandboxes {
  readonly install: CommandSpec;
  readonly check: CommandSpec;
  readonly helper: string;
  readonly forbidden_ports: readonly number[];
}

export interface ShellEnd {
  readonly passed: boolean;
  /** The end of the command's output. */
  readonly output: string;
}

export interface ShellOptions {
  readonly purpose: CommandPurpose;
  readonly env?: Record<string, string>;
  readonly timeoutMs?: number | undefined;
}

const KEPT_CHARACTERS = 8000;

/** Runs a project command. Forwards its output as it arrives, and returns the end of it. */
export async function runShell(command: string, cwd: string, options: ShellOptions): Promise<ShellEnd> {
  const opened = await openCommandSandbox(options.purpose);
  if (opened?.ok === false) return { passed: false, output: opened.reason };
  try {
    return await runOpened(command, cwd, opened?.sandbox, options);
  } finally {
    await opened?.sandbox.close();
  }
}

async function runOpened(
  command: string,
  cwd: string,
  sandbox: OpenSandbox | undefined,
  { env = {}, timeoutMs }: ShellOptions,
): Promise<ShellEnd> {
  // A project command must not act for the session.
  const plain = { argv: ['/bin/sh', '-c', command], env: { ...withoutSession(process.env), CI: 'true', ...env } };
  const wrapped = sandbox?.command(plain.argv, cwd, plain.env) ?? { ok: true, ...plain };
  if (!wrapped.ok) return { passed: false, output: wrapped.reason };
  const [program = '', ...args] = wrapped.argv;
  // Uses its own process group, so that a timeout ends everything that the command started.
  const child = spawn(program, args, { cwd, env: wrapped.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  if (child.pid !== undefined) sandbox?.started(child.pid);
  sandbox?.watchDisk(child.pid, (line) => {
    process.stdout.write(`${line}\n`);
    endGroup(child.pid);
  });
  const clock = timeoutMs === undefined ? undefined : setTimeout(() => endGroup(child.pid), timeoutMs);
  const end = await followOutput(child);
  clearTimeout(clock);
  return end;
}

async function followOutput(child: ChildProcess): Promise<ShellEnd> {
  let output = '';
  const keep = (chunk: Buffer): void => {
    process.stdout.write(chunk);
    output = `${output}${chunk.toString('utf8')}`.slice(-KEPT_CHARACTERS);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ passed: false, output: error.message }));
    child.once('close', (code, signal) => {
      const end = signal === null ? '' : `\nended by ${signal}`;
      resolve({ passed: code === 0, output: `${output}${end}`.trim() });
    });
  });
}

/** Returns undefined if the project's commands run without a sandbox. */
async function openCommandSandbox(purpose: CommandPurpose): Promise<SandboxResult | undefined> {
  const path = process.env['BATON_COMMAND_SANDBOX'];
  if (path === undefined || path === '') return undefined;
  // The daemon writes this file.
  const sandboxes = JSON.parse(readFileSync(path, 'utf8')) as CommandSandboxes; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return openSandbox({
    spec: sandboxes[purpose],
    id: `${process.env['BATON_AGENT_ID'] ?? ''}-${purpose}-${process.pid}`,
    folder: join(dirname(path), 'sandbox', purpose),
    stateDir: process.env['BATON_STATE_DIR'] ?? '',
    secrets: {},
    tokens: [],
    helper: sandboxes.helper,
    forbiddenPorts: sandboxes.forbidden_ports,
    onNote: (line) => void process.stdout.write(`${line}\n`),
    env: process.env,
  });
}

function withoutSession(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { BATON_TOKEN: _token, BATON_URL: _url, BATON_COMMAND_SANDBOX: _sandbox, ...rest } = env;
  return rest;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already exited.
  }
}
