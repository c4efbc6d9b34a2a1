import type { ServerResponse } from 'node:http';
import { startModel, type Answer, type Dialect, type ModelServer, type Received } from './model-server.ts';
import { says, usageOf, type Asked, type Message, type Script } from './script.ts';
import { sendEvents, sendJson } from './send-events.ts';
import { listOf, textIn } from './texts.ts';

/** A stand-in for OpenAI's Responses API, with streaming. */
export function startOpenai(script: Script): Promise<ModelServer> {
  return startModel(OPENAI, script);
}

const OPENAI: Dialect = {
  parse,
  // The interactive Codex also requests titles, in a separate conversation; Grok does so with a tool for the title, and
  // requests a line about each turn.
  isAside: ({ tools, messages }) =>
    tools.every((name) => name === 'session_title') ||
    /^(Generate a concise, .* title|<system-reminder>Write an ultra-short )/.test(messages.at(-1)?.text ?? ''),
  aside: says('an aside'),
  send,
  elsewhere: ({ path }) =>
    /\/models(\?|$)/.test(path) ? { status: 200, body: { object: 'list', data: [], models: [] } } : NOT_FOUND,
};

const NOT_FOUND = {
  status: 404,
  body: { error: { type: 'invalid_request_error', code: 'not_found', message: 'not here' } },
};

function parse({ method, path, headers, body }: Received): Asked | null {
  if (method !== 'POST' || !/^\/v1\/responses(\?|$)/.test(path)) return null;
  return {
    model: String(body['model']),
    messages: listOf(body['input']).map(messageOf),
    tools: [...listOf(body['tools']).map((tool) => String(tool['name'] ?? tool['type'])), ...foundTools(body)],
    path,
    headers,
    body,
  };
}

/** The tools that the search has found, which may be used from then on. */
function foundTools(body: Received['body']): string[] {
  const found = listOf(body['input']).filter(({ type }) => type === 'tool_search_output');
  const spaces = found.flatMap(({ tools }) => listOf(tools));
  return spaces.flatMap(({ name, tools }) => listOf(tools).map((tool) => `${String(name)}__${String(tool['name'])}`));
}

function messageOf(item: Readonly<Record<string, unknown>>): Message {
  const type = String(item['type']);
  if (type.endsWith('_output')) return { role: 'tool', text: textIn(item) };
  const isModel = item['role'] === 'assistant' || type.endsWith('_call');
  return { role: isModel ? 'model' : 'user', text: textIn(item) };
}

function send(response: ServerResponse, reply: Answer, asked: Asked, turn: number): void {
  if (reply.kind === 'error') {
    const body = { error: { type: reply.error, code: reply.error, message: reply.message, ...reply.more } };
    return sendJson(response, reply.status, body, reply.headers);
  }
  sendEvents(response, eventsOf(reply, asked.model, turn));
}

function eventsOf(reply: Exclude<Answer, { kind: 'error' }>, model: string, turn: number): object[] {
  const { input, cached, output } = usageOf(reply.usage);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  const head = { id: `resp_${turn}`, object: 'response', created_at: CREATED, model };
  const events = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [] } },
    ...itemsOf(reply, turn).flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { ...head, status: 'completed', output: itemsOf(reply, turn), usage } },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function itemsOf(reply: Exclude<Answer, { kind: 'error' }>, turn: number): object[] {
  const said = (text: string) => ({
    type: 'message',
    id: `msg_${turn}`,
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  });
  if (reply.kind === 'text') return [said(reply.text)];
  return [...(reply.text === undefined ? [] : [said(reply.text)]), callOf(reply.tool, reply.input, turn)];
}

/** A call of an MCP server's tool, which has its own namespace and is found with the search tool first. */
function callOf(tool: string, input: object, turn: number): object {
  const call = { id: `fc_${turn}`, call_id: `call_${turn}`, status: 'completed' };
  if (tool === 'tool_search') return { type: 'tool_search_call', ...call, execution: 'client', arguments: input };
  const [, namespace, name] = /^(mcp__.+)__(.+)$/.exec(tool) ?? [null, undefined, tool];
  return { type: 'function_call', ...call, name, ...(namespace && { namespace }), arguments: JSON.stringify(input) };
}

/** Seconds since 1970. */
const CREATED = 1_790_000_000;
