import { McpServer } from '@modelcontextprotocol/server';
import { releaseOnLateCancel, type ToolContext } from './call-tool.ts';
import type { Backend } from './connection.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { withToolHints } from './tool-hints.ts';
import { registerTools } from './tools.ts';

/** Options of a connection, which has the rights of a worker or a session, never of an operator. */
export type McpOptions = Pick<ToolContext, 'connection'> &
  Partial<Pick<ToolContext, 'takesToken' | 'progressMs'>> & { readonly version: string };

/** The MCP server of one connection. It decides nothing: every call goes to the backend. */
export function createMcpServer(backend: Backend, options: McpOptions): McpServer {
  const { connection, version, takesToken = false, progressMs = 10_000 } = options;
  const server = new McpServer({ name: 'baton', title: 'Baton', version }, { instructions: INSTRUCTIONS });
  const calling = { backend: withToolHints(backend), connection, takesToken, progressMs };
  registerTools(server, calling);
  registerResources(server, calling);
  registerPrompts(server);
  releaseOnLateCancel(server, calling);
  return server;
}

const INSTRUCTIONS = `Baton shares out the tasks of this repository among agents, and keeps a record of who did what.
- To find work: task_next_actions. To take it: task_claim. Never work on a task that you have not claimed.
- To start: task_brief. While you work: task_heartbeat every few minutes.
- To finish: commit and push, then thought_record, then task_update with status done (or task_complete, which does both).
- If you were started by Baton you have a mission: mission_get; at the end result_submit, thought_record, handoff_send, and exit_signal last.
After task_claim this connection acts for that task; you need not pass tokens. A refused call changes nothing; its text explains what to do instead.`;
