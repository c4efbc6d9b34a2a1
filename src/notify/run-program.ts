import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { plainLine, type SendResult } from './channel.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function findProgram(name: string, env: Environment): string | undefined {
  // Skips relative folders of PATH, which would mean another program in each working folder.
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

export async function runProgram(
  program: string,
  args: readonly string[],
  { env, timeoutMs }: { readonly env: Environment; readonly timeoutMs: number },
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, timeoutMs);
    const finish = (ran: ProgramResult): void => {
      clearTimeout(timer);
      child.stderr.destroy();
      resolve(ran);
    };
    const finishWith = (code: number | null): void => {
      if (timedOut) finish({ ok: false, reason: `no answer within ${timeoutMs} ms`, timedOut });
      else if (code === 0) finish({ ok: true });
      else finish({ ok: false, reason: plainLine(output, MAX_REASON) || `exit code ${code}` });
    };
    child.stderr.on('data', (chunk: Buffer) => {
      if (output.length < MAX_OUTPUT) output += chunk.toString('utf8');
    });
    child.once('error', (error) => finish({ ok: false, reason: error.message }));
    child.once('close', finishWith);
    // A child of the program may hold the pipe open, so the remaining output is awaited only briefly.
    child.once('exit', (code) => setTimeout(() => finishWith(code), OUTPUT_GRACE_MS).unref());
  });
}

const OUTPUT_GRACE_MS = 500;
const MAX_OUTPUT = 4096;
const MAX_REASON = 300;
