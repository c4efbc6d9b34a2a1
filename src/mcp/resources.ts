import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import type { McpServer, ReadResourceResult } from '@modelcontextprotocol/server';
import { OPERATIONS } from '../api/operations/registry.ts';
import type { ToolContext } from './call-tool.ts';

/** Read-only resources that people and clients attach to a conversation without a tool call. */
export function registerResources(server: McpServer, calling: ToolContext): void {
  const read = readerOf(calling);

  server.registerResource(
    'tasks',
    'baton://tasks',
    {
      title: 'Tasks',
      description: 'The tasks of this project, oldest first: the first 1,000, and how many there are in total.',
      mimeType: JSON_TYPE,
    },
    async ({ href }) => read(href, 'task_list', { limit: 1000 }),
  );

  server.registerResource(
    'ledger-head',
    'baton://ledger/head',
    {
      title: 'Ledger head',
      description: 'How long the ledger is, and the hash of its last entry.',
      mimeType: JSON_TYPE,
    },
    async ({ href }) => read(href, 'ledger_head', {}),
  );

  const complete = { id: async (start: string) => listTaskIds(calling, start) };
  server.registerResource(
    'task-brief',
    new ResourceTemplate('baton://task/{id}/brief', { list: undefined, complete }),
    {
      title: 'Task brief',
      description: 'All that is needed to start on a task, in the order in which to read it.',
      mimeType: 'text/markdown',
    },
    async ({ href }, { id }) => read(href, 'task_brief', { task_id: id }),
  );
}

const JSON_TYPE = 'application/json';

type ReadOperation = (uri: string, operation: string, input: unknown) => Promise<ReadResourceResult>;

function readerOf(calling: ToolContext): ReadOperation {
  return async (uri, operation, input) => {
    const answer = await callOperation(calling, operation, input);
    if (!answer.ok) {
      const { code, message } = answer.error;
      throw code === 'no-such-task'
        ? new ResourceNotFoundError(uri, message)
        : new ProtocolError(ProtocolErrorCode.InternalError, message, answer.error);
    }
    const { result } = answer;
    if (typeof result === 'object' && result !== null && 'text' in result && typeof result.text === 'string')
      return { contents: [{ uri, mimeType: 'text/markdown', text: result.text }] };
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(result, null, 2) }] };
  };
}

/** Task ids with this prefix, claimable ones first. */
async function listTaskIds(calling: ToolContext, start: string): Promise<string[]> {
  const answer = await callOperation(calling, 'task_next_actions', { limit: 100 });
  const result: unknown = answer.ok ? answer.result : undefined;
  if (typeof result !== 'object' || result === null || !('tasks' in result) || !Array.isArray(result.tasks)) return [];
  const ids = result.tasks.map((task: { id?: unknown }) => task.id);
  return ids.filter((id) => typeof id === 'string').filter((id) => id.startsWith(start));
}

async function callOperation({ backend, connection }: ToolContext, name: string, input: unknown) {
  const operation = OPERATIONS.get(name);
  if (operation === undefined) throw new ProtocolError(ProtocolErrorCode.InternalError, `no operation ${name}`);
  return backend.call(name, input, connection.tokenFor(operation, input));
}
