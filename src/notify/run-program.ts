import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { plainLine, type SendResult } from './channel.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a program lies on the PATH. */
export function findProgram(name: string, env: Environment): string | undefined {
  // A relative folder in the PATH means another program in each folder; a daemon has no use for that.
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export type ProgramResult = SendResult & { readonly timedOut?: boolean };

/** Runs a program with arguments, no shell between, and waits for its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, timeoutMs }: { readonly env: Environment; readonly timeoutMs: number },
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    const settle = (ran: ProgramResult): void => {
      clearTimeout(timer);
      child.stderr.destroy();
      resolve(ran);
    };
    const settleWith = (code: number | null): void => {
      if (timedOut) settle({ ok: false, reason: `no answer within ${timeoutMs} ms`, timedOut });
      else if (code === 0) settle({ ok: true });
      else settle({ ok: false, reason: plainLine(said, MAX_REASON) || `exit code ${code}` });
    };
    child.stderr.on('data', (chunk: Buffer) => {
      if (said.length < MAX_OUTPUT) said += chunk.toString('utf8');
    });
    child.once('error', (error) => settle({ ok: false, reason: error.message }));
    child.once('close', settleWith);
    // Whatever the program has started may hold the pipe open; its last words are waited for, but not for long.
    child.once('exit', (code) => setTimeout(() => settleWith(code), OUTPUT_GRACE_MS).unref());
  });
}

const OUTPUT_GRACE_MS = 500;
const MAX_OUTPUT = 4096;
const MAX_REASON = 300;
