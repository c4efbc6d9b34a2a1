import { groupOf, OPERATIONS } from '../operations/registry.ts';
import { VERSION } from '../version.ts';
import { FIXED_PATHS } from './fixed-paths.ts';
import { pathOf } from './operation-path.ts';
import { operationSchemas, VIEW_SCHEMAS } from './schemas.ts';
import { PARAMETERS, REFUSED, SCHEMAS } from './shared.ts';

/** The HTTP API as an OpenAPI document, from the declarations of the operations. */
export function openApi() {
  const operations = [...OPERATIONS.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version: VERSION,
      summary: 'The operations of a Baton daemon.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ token: [] }],
    tags: [...new Set([...operations.map(groupOf), 'daemon'])].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(operations.map((each) => [`/v1/${each.name}`, pathOf(each)])),
      ...FIXED_PATHS,
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: TOKENS } },
      parameters: PARAMETERS,
      responses: { Refused: REFUSED },
      schemas: { ...SCHEMAS, ...VIEW_SCHEMAS, ...Object.fromEntries(operations.flatMap(operationSchemas)) },
    },
  } as const;
}

const DESCRIPTION = `Each operation is \`POST /v1/NAME\` with a JSON body. The server is the daemon of one state folder: it listens on
the \`port\` and the Unix \`socket\` that \`daemon.json\` in that folder names. docs/api.md explains tokens, projects and repeats, and
describes what this document leaves out: the paths of the page in a browser (\`/v1/page/…\`), channels (\`/v1/calls\`) and MCP (\`/mcp\`).`;

const TOKENS = `The token of the operator (\`operator.token\` in the state folder), of a worker (\`worker.token\`), of a session (from
\`task_claim\`) or of an agent (\`BATON_TOKEN\`). \`x-baton-callers\` of an operation names who may call it.`;
