import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeStdout } from '../../api/stdio.ts';
import { quoteForShell } from '../../protocol/text/quote-for-shell.ts';
import type { ScriptStep } from './script.ts';

export interface ToolCall {
  readonly name: 'Bash' | 'Write';
  readonly input: object;
  readonly run: () => Promise<{ readonly output: string; readonly isError: boolean }>;
}

export function findTool(step: ScriptStep, agentId: string): ToolCall | undefined {
  switch (step.do) {
    case 'run':
      return bash(step.with);
    case 'write':
      return {
        name: 'Write',
        input: { file_path: step.with.path, content: step.with.text },
        run: async () => write(step.with),
      };
    case 'commit':
      return bash(`git add --all && git ${AUTHOR} commit --quiet --message ${quoteForShell(step.with)}`);
    case 'signal':
      return bash(
        `baton emit agent:signal --agent ${quoteForShell(agentId)} ${quoteForShell(JSON.stringify(step.with))}`,
      );
    case 'exit':
      return bash(`baton emit exit ${quoteForShell(JSON.stringify(exitSignal(step.with)))}`);
    case 'handoff':
      return bash(`baton handoff send ${quoteForShell(step.with)}`);
    case 'thought':
      return bash(`baton thought record ${quoteForShell(step.with)}`);
    case 'result':
      return bash(`baton result submit ${quoteForShell(step.with)}`);
    default:
      return undefined;
  }
}

function exitSignal({
  phase,
  reason = 'completed',
  notes,
  pr_url,
  evidence,
}: Extract<ScriptStep, { do: 'exit' }>['with']): object {
  const signal = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: phase, exit_reason: reason };
  return { ...signal, notes, pr_url, evidence_bundle_ref: evidence };
}

function bash(command: string): ToolCall {
  return { name: 'Bash', input: { command }, run: async () => runShell(command) };
}

async function runShell(command: string): Promise<{ readonly output: string; readonly isError: boolean }> {
  return new Promise((resolvePromise) => {
    const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const append = (piece: string): void => {
      output = (output + piece).slice(-MAX_OUTPUT);
    };
    child.stdout.setEncoding('utf8').on('data', append);
    child.stderr.setEncoding('utf8').on('data', append);
    child.once('error', ({ message }) => resolvePromise({ output: message, isError: true }));
    // A background process may hold the output open forever, so only the exit is awaited.
    child.once('exit', (code) => setImmediate(() => resolvePromise({ output, isError: code !== 0 })));
  });
}

const MAX_OUTPUT = 30_000;
/** The machine may have no git identity. */
const AUTHOR = `-c user.name='Scripted agent' -c user.email=scripted@localhost`;

function write({ path, text }: { readonly path: string; readonly text: string }): { output: string; isError: boolean } {
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true });
    writeFileSync(path, text);
    return { output: '', isError: false };
  } catch (error) {
    return { output: error instanceof Error ? error.message : String(error), isError: true };
  }
}

/** Returns undefined if the step is none of these. */
export async function misbehave(step: ScriptStep): Promise<'continues' | undefined> {
  switch (step.do) {
    case 'hang':
      return hang();
    case 'crash':
      if (step.with !== undefined) process.exit(step.with);
      process.kill(process.pid, 'SIGKILL');
      return hang();
    case 'print':
      writeStdout(step.with.endsWith('\n') ? step.with : `${step.with}\n`);
      return 'continues';
    case 'flood':
      flood(step.with);
      return 'continues';
    case 'fork':
      spawn('/bin/sh', ['-c', step.with.run], { stdio: 'ignore', detached: step.with.setsid === true }).unref();
      return 'continues';
    case 'ignore':
      process.on(step.with, () => {});
      return 'continues';
    default:
      return undefined;
  }
}

async function hang(): Promise<never> {
  setInterval(() => {}, 60_000);
  return new Promise(() => {});
}

function flood(bytes: number): void {
  const line = `${'x'.repeat(1023)}\n`;
  const chunk = line.repeat(64);
  for (let left = bytes; left > 0; left -= chunk.length)
    writeStdout(left >= chunk.length ? chunk : chunk.slice(0, left));
}
