import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { callBaton } from './call-baton.ts';
import type { ToolCall, ToolResult } from './tools.ts';

/** Runs a tool call in this process. The signal ends a command with everything in its process group. */
export async function runTool(tool: ToolCall, cwd: string, signal?: AbortSignal): Promise<ToolResult> {
  switch (tool.kind) {
    case 'execute':
      return runShell(tool.command, cwd, signal);
    case 'edit':
      return attempt(() => writeText(resolve(cwd, tool.path), tool.text));
    case 'baton':
      return callBaton(tool.tool, tool.input);
    case 'read':
      return attempt(() => readFileSync(resolve(cwd, tool.path), 'utf8').slice(0, MAX_OUTPUT));
  }
}

async function runShell(command: string, cwd: string, signal: AbortSignal | undefined): Promise<ToolResult> {
  return new Promise((resolvePromise) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: signal !== undefined,
    });
    const end = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    signal?.addEventListener('abort', end, { once: true });
    let output = '';
    const append = (piece: string): void => {
      output = (output + piece).slice(-MAX_OUTPUT);
    };
    child.stdout.setEncoding('utf8').on('data', append);
    child.stderr.setEncoding('utf8').on('data', append);
    child.once('error', ({ message }) => resolvePromise({ output: message, isError: true }));
    // A background process may hold the output open forever, so this waits only for the exit.
    child.once('exit', (code) => {
      signal?.removeEventListener('abort', end);
      setImmediate(() => resolvePromise({ output, isError: code !== 0 }));
    });
  });
}

const MAX_OUTPUT = 30_000;

function writeText(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return '';
}

function attempt(work: () => string): ToolResult {
  try {
    return { output: work(), isError: false };
  } catch (error) {
    return { output: error instanceof Error ? error.message : String(error), isError: true };
  }
}
