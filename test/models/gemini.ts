import type { ServerResponse } from 'node:http';
import { startModel, type Answer, type Dialect, type ModelServer, type Received } from './model-server.ts';
import { says, usageOf, type Asked, type Message, type Script } from './script.ts';
import { sendEvents, sendJson } from './send-events.ts';
import { listOf, textIn } from './texts.ts';

/**
 * A stand-in for Google's Gemini API: `streamGenerateContent`, and `generateContent` for requests beside the
 * conversation.
 */
export function startGemini(script: Script): Promise<ModelServer> {
  return startModel(GEMINI, script);
}

const GEMINI: Dialect = {
  parse,
  isAside: (asked) => asked.tools.length === 0,
  aside: says('{}'),
  send,
  elsewhere: ({ path }) => (path.includes(':countTokens') ? { status: 200, body: { totalTokens: 100 } } : NOT_FOUND),
};

const NOT_FOUND = { status: 404, body: { error: { code: 404, message: 'not here', status: 'NOT_FOUND' } } };

function parse({ method, path, headers, body }: Received): Asked | null {
  const model = /\/models\/([^:/]+):(?:streamGenerateContent|generateContent)/.exec(path)?.[1];
  if (method !== 'POST' || model === undefined) return null;
  const tools = listOf(body['tools']).flatMap((tool) => listOf(tool['functionDeclarations']));
  return {
    model,
    messages: listOf(body['contents']).flatMap(messagesOf),
    tools: tools.map((tool) => String(tool['name'])),
    path,
    headers,
    body,
  };
}

function messagesOf({ role, parts }: Readonly<Record<string, unknown>>): Message[] {
  return listOf(parts).map((part) => ({
    role: 'functionResponse' in part ? 'tool' : role === 'model' ? 'model' : 'user',
    text: textIn(part),
  }));
}

function send(response: ServerResponse, reply: Answer, asked: Asked, turn: number): void {
  if (reply.kind === 'error') {
    const error = { code: reply.status, message: reply.message, status: reply.error, ...reply.more };
    return sendJson(response, reply.status, { error }, reply.headers);
  }
  const answer = answerOf(reply, asked.model, turn);
  if (asked.path.includes(':streamGenerateContent')) sendEvents(response, [answer]);
  else sendJson(response, 200, answer);
}

function answerOf(reply: Exclude<Answer, { kind: 'error' }>, model: string, turn: number): object {
  const { input, cached, output } = usageOf(reply.usage);
  const said = reply.text === undefined ? [] : [{ text: reply.text }];
  const call =
    reply.kind === 'tool' ? [{ functionCall: { id: `call_${turn}`, name: reply.tool, args: reply.input } }] : [];
  return {
    candidates: [{ content: { role: 'model', parts: [...said, ...call] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
    modelVersion: model,
    responseId: `resp_${turn}`,
  };
}
