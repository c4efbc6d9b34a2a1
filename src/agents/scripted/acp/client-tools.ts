import { RpcError } from '../../../acp/connection.ts';
import { textOf } from '../../../protocol/shape/read-unknown.ts';
import { callBaton } from '../call-baton.ts';
import type { ToolCall, ToolResult } from '../tools.ts';
import { type AcpClient, orCancelled } from './client.ts';
import { pathIn } from './tool-call.ts';

export interface ClientToolOptions {
  readonly client: AcpClient;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly onTerminal: (terminalId: string) => void;
}

/** Whether the client offers the methods that this tool call needs. */
export function canClientRun(tool: ToolCall, { capabilities }: AcpClient): boolean {
  switch (tool.kind) {
    case 'execute':
      return capabilities.hasTerminals;
    case 'edit':
      return capabilities.canWrite;
    case 'read':
      return capabilities.canRead;
    case 'baton':
      return false;
  }
}

/** Runs a tool call through the methods of the client. */
export async function runInClient(tool: ToolCall, options: ClientToolOptions): Promise<ToolResult> {
  if (tool.kind === 'baton') return callBaton(tool.tool, tool.input);
  try {
    const result = await orCancelled(runTool(tool, options), options.signal);
    return result === 'cancelled' ? { output: result, isError: true } : result;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { output: error.message, isError: true };
  }
}

async function runTool(tool: Exclude<ToolCall, { kind: 'baton' }>, options: ClientToolOptions): Promise<ToolResult> {
  const { client, cwd } = options;
  switch (tool.kind) {
    case 'execute':
      return runInTerminal(tool.command, options);
    case 'edit':
      await client.request('fs/write_text_file', { path: pathIn(cwd, tool.path), content: tool.text });
      return { output: '', isError: false };
    case 'read': {
      const { content } = await client.request('fs/read_text_file', { path: pathIn(cwd, tool.path) });
      return { output: textOf(content), isError: false };
    }
  }
}

/** Runs a command in a terminal of the client. Kills it on cancellation, and releases the terminal in any case. */
async function runInTerminal(
  command: string,
  { client, cwd, signal, onTerminal }: ClientToolOptions,
): Promise<ToolResult> {
  const shell = { command: '/bin/sh', args: ['-c', command], cwd, outputByteLimit: MAX_OUTPUT_BYTES };
  const terminalId = textOf((await client.request('terminal/create', shell))['terminalId']);
  const call = async (method: string) => client.request(`terminal/${method}`, { terminalId });
  const kill = (): void => void call('kill').catch(() => {});
  onTerminal(terminalId);
  signal.addEventListener('abort', kill, { once: true });
  try {
    if (signal.aborted) kill();
    const { exitCode } = await call('wait_for_exit');
    const { output } = await call('output');
    return { output: textOf(output), isError: exitCode !== 0 };
  } finally {
    signal.removeEventListener('abort', kill);
    await call('release');
  }
}

const MAX_OUTPUT_BYTES = 30_000;
