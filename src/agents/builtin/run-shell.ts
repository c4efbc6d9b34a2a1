import { spawn } from 'node:child_process';

export interface ShellEnd {
  readonly passed: boolean;
  /** The end of what it printed. */
  readonly output: string;
}

const KEPT_CHARACTERS = 8000;

/** Runs a command of the project where the role works. What it prints is shown as it comes, and its end is kept. */
export async function runShell(
  command: string,
  {
    cwd,
    env = {},
    timeoutMs,
  }: { readonly cwd: string; readonly env?: Record<string, string>; readonly timeoutMs?: number },
): Promise<ShellEnd> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    // A command of the project is not the role: it has no business with the session.
    env: { ...withoutSession(process.env), CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what takes too long is ended with everything that it has started.
    detached: true,
  });
  const clock = timeoutMs === undefined ? undefined : setTimeout(() => endGroup(child.pid), timeoutMs);
  let output = '';
  const keep = (chunk: Buffer): void => {
    process.stdout.write(chunk);
    output = `${output}${chunk.toString('utf8')}`.slice(-KEPT_CHARACTERS);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ passed: false, output: error.message }));
    child.once('close', (code, signal) => {
      clearTimeout(clock);
      const end = signal === null ? '' : `\nended by ${signal}`;
      resolve({ passed: code === 0, output: `${output}${end}`.trim() });
    });
  });
}

function withoutSession(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { BATON_TOKEN: _token, BATON_URL: _url, ...rest } = env;
  return rest;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
