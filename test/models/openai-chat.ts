import type { ServerResponse } from 'node:http';
import { startModel, type Answer, type Dialect, type ModelServer, type Received } from './model-server.ts';
import { says, usageOf, type Asked, type Message, type Script } from './script.ts';
import { sendEvents, sendJson } from './send-events.ts';
import { listOf, textIn } from './texts.ts';

/** A stand-in for OpenAI's Chat Completions API, which most other providers support too, with and without streaming. */
export function startOpenaiChat(script: Script): Promise<ModelServer> {
  return startModel(OPENAI_CHAT, script);
}

const OPENAI_CHAT: Dialect = {
  parse,
  // Qwen Code requests what it should remember, and what its user might type next, while it offers its tools.
  isAside: ({ tools, messages }) =>
    tools.length === 0 || /^(\[SUGGESTION MODE:|Managed memory has )/.test(messages.at(-1)?.text ?? ''),
  aside: says('an aside'),
  send,
  elsewhere: ({ path }) =>
    /\/models(\?|$)/.test(path) ? { status: 200, body: { object: 'list', data: [] } } : NOT_FOUND,
};

const NOT_FOUND = {
  status: 404,
  body: { error: { type: 'invalid_request_error', code: 'not_found', message: 'not here' } },
};

function parse({ method, path, headers, body }: Received): Asked | null {
  if (method !== 'POST' || !/\/chat\/completions(\?|$)/.test(path)) return null;
  return {
    model: String(body['model']),
    messages: listOf(body['messages']).map(messageOf),
    tools: listOf(body['tools']).map(({ function: declared }) => nameOf(declared)),
    path,
    headers,
    body,
  };
}

function nameOf(declared: unknown): string {
  return typeof declared === 'object' && declared !== null && 'name' in declared ? String(declared.name) : '';
}

function messageOf({ role, content }: Readonly<Record<string, unknown>>): Message {
  const speaker = role === 'assistant' ? 'model' : role === 'tool' ? 'tool' : 'user';
  return { role: speaker, text: textIn(content) };
}

function send(response: ServerResponse, reply: Answer, asked: Asked, turn: number): void {
  if (reply.kind === 'error') {
    const body = { error: { type: reply.error, code: reply.error, message: reply.message, ...reply.more } };
    return sendJson(response, reply.status, body, reply.headers);
  }
  if (asked.body['stream'] === true) return sendEvents(response, chunksOf(reply, asked.model, turn), '[DONE]');
  sendJson(response, 200, completionOf(reply, asked.model, turn));
}

type Said = Exclude<Answer, { kind: 'error' }>;

function chunksOf(reply: Said, model: string, turn: number): object[] {
  const head = { id: `chatcmpl-${turn}`, object: 'chat.completion.chunk', created: CREATED, model };
  const { finish_reason, message } = choiceOf(reply, turn);
  const tool_calls = message.tool_calls?.map((call, index) => ({ index, ...call }));
  const delta = { ...message, ...(tool_calls && { tool_calls }) };
  return [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...head, choices: [], usage: tokensOf(reply) },
  ];
}

function completionOf(reply: Said, model: string, turn: number): object {
  const choices = [{ index: 0, ...choiceOf(reply, turn) }];
  return {
    id: `chatcmpl-${turn}`,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices,
    usage: tokensOf(reply),
  };
}

function choiceOf(reply: Said, turn: number) {
  const message = { role: 'assistant', content: reply.text ?? null };
  if (reply.kind === 'text') return { finish_reason: 'stop', message: { ...message, tool_calls: undefined } };
  const called = { name: reply.tool, arguments: JSON.stringify(reply.input) };
  const tool_calls = [{ id: `call_${turn}`, type: 'function', function: called }];
  return { finish_reason: 'tool_calls', message: { ...message, tool_calls } };
}

function tokensOf(reply: Said): object {
  const { input, cached, output } = usageOf(reply.usage);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** Seconds since 1970. */
const CREATED = 1_790_000_000;
