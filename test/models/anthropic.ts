import type { ServerResponse } from 'node:http';
import { startModel, type Answer, type Dialect, type ModelServer, type Received } from './model-server.ts';
import { says, usageOf, type Asked, type Message, type Script } from './script.ts';
import { sendEvents, sendJson } from './send-events.ts';
import { listOf, textIn } from './texts.ts';

/** A stand-in for Anthropic's Messages API, with and without streaming. */
export function startAnthropic(script: Script): Promise<ModelServer> {
  return startModel(ANTHROPIC, script);
}

const ANTHROPIC: Dialect = {
  parse,
  // Claude Code requests titles and its quota with requests that offer no tools. In ACP it also requests what its user
  // might type next.
  isAside: ({ tools, messages }) =>
    tools.length === 0 || messages.at(-1)?.text.startsWith('[SUGGESTION MODE:') === true,
  aside: says('an aside'),
  send,
  elsewhere: ({ path }) => (path.includes('count_tokens') ? { status: 200, body: { input_tokens: 100 } } : NOT_FOUND),
};

const NOT_FOUND = { status: 404, body: { type: 'error', error: { type: 'not_found_error', message: 'not here' } } };

function parse({ method, path, headers, body }: Received): Asked | null {
  if (method !== 'POST' || !/^\/v1\/messages(\?|$)/.test(path)) return null;
  return {
    model: String(body['model']),
    messages: listOf(body['messages']).flatMap(messagesOf),
    tools: listOf(body['tools']).map((tool) => String(tool['name'])),
    path,
    headers,
    body,
  };
}

function messagesOf({ role, content }: Readonly<Record<string, unknown>>): Message[] {
  const speaker = role === 'assistant' ? 'model' : 'user';
  if (typeof content === 'string') return [{ role: speaker, text: content }];
  return listOf(content).map((block) => ({
    role: block['type'] === 'tool_result' ? 'tool' : speaker,
    text: textIn(block),
  }));
}

function send(response: ServerResponse, reply: Answer, asked: Asked, turn: number): void {
  if (reply.kind === 'error') {
    const body = {
      type: 'error',
      error: { type: reply.error, message: reply.message, ...reply.more },
      request_id: `req_${turn}`,
    };
    return sendJson(response, reply.status, body, reply.headers);
  }
  if (asked.body['stream'] === true) return sendEvents(response, eventsOf(reply, asked.model, turn));
  sendJson(response, 200, messageOf(reply, asked.model, turn));
}

function messageOf(reply: Exclude<Answer, { kind: 'error' }>, model: string, turn: number): object {
  const { input, output } = usageOf(reply.usage);
  const text = reply.text === undefined ? [] : [{ type: 'text', text: reply.text }];
  const tool =
    reply.kind === 'tool' ? [{ type: 'tool_use', id: `toolu_${turn}`, name: reply.tool, input: reply.input }] : [];
  const usage = { input_tokens: input, output_tokens: output };
  return { id: `msg_${turn}`, type: 'message', role: 'assistant', model, content: [...text, ...tool], usage };
}

function eventsOf(reply: Exclude<Answer, { kind: 'error' }>, model: string, turn: number): object[] {
  const { input, cached, output } = usageOf(reply.usage);
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: 1,
  };
  const head = {
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  const stop = reply.kind === 'tool' ? 'tool_use' : 'end_turn';
  return [
    { type: 'message_start', message: { ...head, usage } },
    ...blocksOf(reply, turn).flatMap(({ start, delta }, index) => [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } },
    { type: 'message_stop' },
  ];
}

function blocksOf(reply: Exclude<Answer, { kind: 'error' }>, turn: number): { start: object; delta: object }[] {
  const text = { start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: reply.text } };
  if (reply.kind === 'text') return [text];
  const tool = {
    start: { type: 'tool_use', id: `toolu_${turn}`, name: reply.tool, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(reply.input) },
  };
  return reply.text === undefined ? [tool] : [text, tool];
}
