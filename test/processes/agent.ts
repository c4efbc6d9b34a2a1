import type { Client } from '@modelcontextprotocol/client';
import { say, type Said } from '../mcp/connect.ts';

/** An agent as a client of MCP: it calls tools, and reads what a model would read. */
export class Agent {
  readonly name: string;
  readonly client: Client;

  constructor(name: string, client: Client) {
    this.name = name;
    this.client = client;
  }

  /** Calls a tool; an error is what the model gets to read. */
  async try(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<Said> {
    return say(this.client, tool, args);
  }

  /** Calls a tool that must succeed. */
  async do(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    const { isError, text, result } = await this.try(tool, args);
    if (isError) throw new Error(`${tool}: ${text}`);
    return result;
  }

  /** The exact text of a refusal. */
  async refused(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { isError, text } = await this.try(tool, args);
    if (!isError) throw new Error(`${tool} was not refused: ${text}`);
    return text;
  }
}

/** A thought record that says as little as it may. */
export function record(taskId: string, commit: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    task_id: taskId,
    branch: `feature/${taskId.toLowerCase().replaceAll('.', '-')}`,
    commit_sha: commit,
    tests_run: ['npm test'],
    summary: 'It is done. The tests pass. Nothing is left over.',
    blockers: [],
    files_changed: [],
    related_thought_records: [],
    ...more,
  };
}

export function exitSignal(phase: string, reason = 'completed', more: Readonly<Record<string, unknown>> = {}) {
  return { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: phase, exit_reason: reason, ...more };
}
