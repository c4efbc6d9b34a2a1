import type { Client } from '@modelcontextprotocol/client';
import { say, type Said } from '../mcp/connect.ts';

/** An agent as an MCP client: it calls tools, and reads their results like a model. */
export class Agent {
  readonly name: string;
  readonly client: Client;

  constructor(name: string, client: Client) {
    this.name = name;
    this.client = client;
  }

  /** Calls a tool; returns an error in the form that a model reads. */
  async try(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<Said> {
    return say(this.client, tool, args);
  }

  /** Calls a tool that must succeed. */
  async do(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    const { isError, text, result } = await this.try(tool, args);
    if (isError) throw new Error(`${tool}: ${text}`);
    return result;
  }

  /** Returns the exact text of a refusal. */
  async refused(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { isError, text } = await this.try(tool, args);
    if (!isError) throw new Error(`${tool} was not refused: ${text}`);
    return text;
  }
}
