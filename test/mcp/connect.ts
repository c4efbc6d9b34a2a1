import { type CallToolResult, Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { type Backend, McpConnection } from '../../src/mcp/connection.ts';
import { createMcpServer } from '../../src/mcp/server.ts';

export interface ConnectOptions {
  readonly token?: string;
  readonly takesToken?: boolean;
  readonly progressMs?: number;
}

/** The SDK's own client, connected to our server in this process. */
export async function connect(backend: Backend, options: ConnectOptions = {}): Promise<Client> {
  const { token = 'worker', ...rest } = options;
  const server = createMcpServer(backend, { connection: new McpConnection(token), version: '0.0.0', ...rest });
  const client = new Client({ name: 'test', version: '0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return client;
}

export interface Said {
  /** The first text of the result; for an error, its exact text. */
  readonly text: string;
  readonly hint: string;
  readonly isError: boolean;
  readonly result: Record<string, unknown>;
}

/** Calls a tool, and returns what a model would see of the result. */
export async function say(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Said> {
  return saidOf(await client.callTool({ name, arguments: args }));
}

export function saidOf({ content, structuredContent, isError = false }: CallToolResult): Said {
  const [text = '', hint = ''] = content.map((block) => (block.type === 'text' ? block.text : ''));
  return { text, hint, isError, result: isRecord(structuredContent) ? structuredContent : {} };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
