import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { RealDaemon } from './real-daemon.ts';

export const SERVER = join(import.meta.dirname, 'stdio-main.ts');

/** The SDK's client, with our server as a separate process. */
export async function openStdio(daemon: RealDaemon, env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', SERVER],
    env: { ...daemon.env, ...env },
    cwd: daemon.repository,
    stderr: 'ignore',
  });
  await client.connect(transport);
  return client;
}

/** A minimal thought record. */
export function recordOf(taskId: string, commit: string, branch = 'feature/x') {
  return {
    task_id: taskId,
    branch,
    commit_sha: commit,
    tests_run: [],
    summary: `${taskId} is done.`,
    blockers: [],
    files_changed: [],
    related_thought_records: [],
  };
}
