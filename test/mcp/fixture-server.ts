import {
  type CallToolResult,
  type ElicitRequestFormParams,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { uncheckedSchema } from '../../src/mcp/tool-schema.ts';

/**
 * A server with what the conformance suite requires besides Baton's features: tools, resources and prompts with its
 * names.
 */
export function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'fixture', version: '0.0.0' },
    { capabilities: { completions: {}, logging: {}, resources: { subscribe: true } } },
  );
  registerTools(server);
  registerResources(server);
  registerPrompts(server);
  return server;
}

/** The smallest image and the shortest sound. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const words = (text: string) => ({ type: 'text', text }) as const;
const embedded = (uri: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'An embedded resource.' } }) as const;

function registerTools(server: McpServer): void {
  const tool = (name: string, run: (context: ServerContext) => Promise<CallToolResult['content']>): void => {
    server.registerTool(name, { description: `The suite's ${name}.` }, async (context) => ({
      content: await run(context),
    }));
  };
  tool('test_simple_text', async () => [words('This is a simple text response for testing.')]);
  tool('test_image_content', async () => [image]);
  tool('test_audio_content', async () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
  tool('test_embedded_resource', async () => [embedded('test://embedded-resource')]);
  tool('test_multiple_content_types', async () => [words('Mixed:'), image, embedded('test://mixed-content-resource')]);
  tool('test_error_handling', async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_reconnection', async () => [words('Nothing was cut off.')]);
  tool('test_tool_with_logging', async ({ mcpReq }) => {
    for (const line of ['started', 'processing', 'completed']) await mcpReq.log('info', `Tool ${line}`);
    return [words('Logged.')];
  });
  tool('test_tool_with_progress', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100])
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    return [words(String(progressToken))];
  });
  tool('test_sampling', async ({ mcpReq }) => {
    const messages = [{ role: 'user' as const, content: words('Say something.') }];
    const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 }, onStreamOf(mcpReq));
    return [words(`LLM response: ${JSON.stringify(content)}`)];
  });
  for (const [name, requestedSchema] of Object.entries(FORMS)) {
    tool(name, async ({ mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput(
        { message: 'Who are you?', requestedSchema },
        onStreamOf(mcpReq),
      );
      return [words(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)];
    });
  }
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: uncheckedSchema<unknown>(DIALECT) },
    () => ({ content: [] }),
  );
}

/** Uses the call's own stream, because the separate one, which the client opens at the same time, may not exist yet. */
function onStreamOf({ id }: ServerContext['mcpReq']): { readonly relatedRequestId: string | number } {
  return { relatedRequestId: id };
}

function registerResources(server: McpServer): void {
  const text = (uri: string, said: string) => ({ contents: [{ uri, mimeType: 'text/plain', text: said }] });
  server.registerResource('text', 'test://static-text', { description: 'Text.' }, ({ href }) => text(href, 'Text.'));
  server.registerResource('binary', 'test://static-binary', { description: 'A picture.' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  server.registerResource('watched', 'test://watched-resource', { description: 'Watched.' }, ({ href }) =>
    text(href, 'Watched.'),
  );
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { description: 'A template.' }, ({ href }, { id }) =>
    text(href, JSON.stringify({ id })),
  );
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function registerPrompts(server: McpServer): void {
  const says = (...content: (ReturnType<typeof words> | typeof image | ReturnType<typeof embedded>)[]) => ({
    messages: content.map((each) => ({ role: 'user' as const, content: each })),
  });
  server.registerPrompt('test_simple_prompt', { description: 'Simple.' }, () => says(words('Simple.')));
  server.registerPrompt('test_prompt_with_image', { description: 'A picture.' }, () => says(image, words('Look.')));
  const pair = { arg1: { type: 'string' }, arg2: { type: 'string' } };
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'Two arguments.',
      argsSchema: uncheckedSchema<{ arg1: string; arg2: string }>({ properties: pair, required: ['arg1', 'arg2'] }),
    },
    ({ arg1, arg2 }) => says(words(`arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A resource.',
      argsSchema: uncheckedSchema<{ resourceUri: string }>({ properties: { resourceUri: { type: 'string' } } }),
    },
    ({ resourceUri }) => says(embedded(resourceUri), words('Read it.')),
  );
  server.server.setRequestHandler('completion/complete', () => ({ completion: { values: [] } }));
}

type Form = ElicitRequestFormParams['requestedSchema'];

const FORMS: Readonly<Record<string, Form>> = {
  test_elicitation: {
    type: 'object',
    properties: { username: { type: 'string' }, email: { type: 'string' } },
    required: ['username', 'email'],
  },
  test_elicitation_sep1034_defaults: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  },
  test_elicitation_sep1330_enums: {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: {
        type: 'string',
        oneOf: [
          { const: 'value1', title: 'First Option' },
          { const: 'value2', title: 'Second Option' },
        ],
      },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'value1', title: 'First Choice' },
            { const: 'value2', title: 'Second Choice' },
          ],
        },
      },
    },
  },
};

const DIALECT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};
