import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import type { InputOf, OperationName, ResultOf } from '../api/operations/registry.ts';
import { taskBrief, taskList, taskNextActions } from '../api/operations/tasks.ts';
import { formGet, ledgerHead } from '../api/operations/writeback.ts';
import { FORM_KINDS } from '../protocol/placeholder.ts';
import type { ToolContext } from './call-tool.ts';
import { callOperation } from './connection.ts';

/** Read-only resources that people and clients attach to a conversation without a tool call. */
export function registerResources(server: McpServer, calling: ToolContext): void {
  server.registerResource(
    'tasks',
    'baton://tasks',
    {
      title: 'Tasks',
      description: 'The tasks of this project, oldest first: the first 1,000, and how many there are in total.',
      mimeType: JSON_TYPE,
    },
    async ({ href }) => contentOf(href, JSON_TYPE, await readOperation(calling, taskList, { limit: 1000 })),
  );

  server.registerResource(
    'ledger-head',
    'baton://ledger/head',
    {
      title: 'Ledger head',
      description: 'How long the ledger is, and the hash of its last entry.',
      mimeType: JSON_TYPE,
    },
    async ({ href }) => contentOf(href, JSON_TYPE, await readOperation(calling, ledgerHead, {})),
  );

  for (const kind of FORM_KINDS)
    server.registerResource(
      `form-${kind}`,
      `baton://forms/${kind}`,
      { title: `Blank ${kind}`, description: FORM_ABOUT[kind], mimeType: FORM_TYPES[kind] },
      async ({ href }) =>
        contentOf(href, FORM_TYPES[kind], await readOperation(calling, formGet, { kind }), ({ text }) => text),
    );

  const complete = { id: async (start: string) => listTaskIds(calling, start) };
  server.registerResource(
    'task-brief',
    new ResourceTemplate('baton://task/{id}/brief', { list: undefined, complete }),
    {
      title: 'Task brief',
      description: 'All that is needed to start on a task, in the order in which to read it.',
      mimeType: MARKDOWN,
    },
    async ({ href }, { id }) =>
      contentOf(href, MARKDOWN, await readOperation(calling, taskBrief, { task_id: String(id) }), ({ text }) => text),
  );
}

const FORM_TYPES = { record: 'application/yaml', result: 'application/yaml', handoff: 'application/xml' } as const;
const FORM_ABOUT = {
  record: 'A blank thought record for the task that you claimed, with what Baton knows filled in.',
  result: 'A blank result for your mission.',
  handoff: 'The blank handoffs that your role can send, one for each receiver.',
} as const;

const JSON_TYPE = 'application/json';
const MARKDOWN = 'text/markdown';

function contentOf<R>(
  uri: string,
  mimeType: string,
  answer: Answer<R>,
  render: (result: R) => string = (result) => JSON.stringify(result, null, 2),
): ReadResourceResult {
  if (answer.ok) return { contents: [{ uri, mimeType, text: render(answer.result) }] };
  const { code, message } = answer.error;
  throw code === 'no-such-task'
    ? new ResourceNotFoundError(uri, message)
    : new ProtocolError(ProtocolErrorCode.InternalError, message, answer.error);
}

/** Task ids with this prefix, claimable ones first. */
async function listTaskIds(calling: ToolContext, start: string): Promise<string[]> {
  const answer = await readOperation(calling, taskNextActions, { limit: 100 });
  return answer.ok ? answer.result.tasks.map(({ id }) => id).filter((id) => id.startsWith(start)) : [];
}

async function readOperation<N extends OperationName>(
  { backend, connection }: ToolContext,
  operation: Operation<N>,
  input: InputOf<N>,
): Promise<Answer<ResultOf<N>>> {
  return callOperation(backend, operation.name, input, connection.tokenFor(operation, input));
}
