import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../../../acp/connection.ts';
import type { AcpPresetName } from '../../../protocol/run-plan.ts';
import { type Fields, fieldsInJson, fieldsOf, numberOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import { countTokens } from '../../../streams/tally.ts';
import { PRESETS } from '../presets.ts';
import { classifyError, findFailure, readRetry } from './errors.ts';
import { AgentUsage, findModel } from './usage.ts';

/**
 * Messages that real agents sent (test/fixtures/acp). The stand-in model counts 100 input tokens, 20 of them cached,
 * and 7 output tokens per request.
 */
function recording(
  file: string,
): readonly { readonly test: string; readonly from: string; readonly message: Fields }[] {
  const text = readFileSync(join(import.meta.dirname, '../../../../test/fixtures/acp', `${file}.jsonl`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map(fieldsInJson)
    .map((line) => ({ test: textOf(line['case']), from: textOf(line['from']), message: fieldsOf(line['message']) }));
}

/** The first turn has a tool call and so two requests; the second turn has one request. */
function turnsOf(name: AcpPresetName) {
  const usage = new AgentUsage(PRESETS[name].usage);
  const messages: number[] = [];
  const models: (string | undefined)[] = [];
  const turns = recording(name).flatMap(({ from, message }) => {
    if (from !== 'agent') return [];
    const used = usage.onUpdate(fieldsOf(fieldsOf(message['params'])['update']));
    if (used !== undefined) messages.push(countTokens(used.usage));
    const result = fieldsOf(message['result']);
    if (textOf(result['stopReason']) === '') return [];
    models.push(findModel(result));
    return [usage.onTurnEnd(result)];
  });
  return { turns, messages, models };
}

const TURN = { input: 160, output: 14, cacheRead: 40, cacheWrite: 0 };
const NEXT = { input: 80, output: 7, cacheRead: 20, cacheWrite: 0 };

describe('the usage of real agents', () => {
  it.each(['codex-acp', 'copilot', 'qwen', 'grok'] as const)('%s counts every request of a turn', (name) => {
    const { turns } = turnsOf(name);
    expect(turns[0]).toMatchObject(TURN);
    expect(turns[1]).toMatchObject(NEXT);
  });

  it('claude-acp counts its cache beside the input, and its cost', () => {
    const { turns } = turnsOf('claude-acp');
    expect(turns[0]).toMatchObject({ input: 200, output: 14, cacheRead: 40, costMillicents: expect.any(Number) });
    expect(turns[0]?.costMillicents).toBeGreaterThan(0);
  });

  it('gemini-acp counts cached tokens as input', () => {
    expect(turnsOf('gemini-acp').turns[0]).toMatchObject({ input: 200, output: 14, cacheRead: 0 });
  });

  it('opencode counts only the last request of a turn', () => {
    expect(turnsOf('opencode').turns[0]).toMatchObject(NEXT);
  });

  it('qwen reports each request while it works', () => {
    expect(turnsOf('qwen').messages).toEqual([107, 107, 107]);
  });

  it.each([
    ['claude-acp', 'claude-'],
    ['gemini-acp', 'gemini-2.5-pro'],
    ['grok', 'grok-4.5'],
  ] as const)('%s names the model that answered', (name, model) => {
    expect(turnsOf(name).models[0]).toContain(model);
  });
});

describe('the errors of real agents', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');
  const kindsOf = (file: string) => {
    let last: string | null = null;
    const found = recording(file).flatMap(({ test, message }) => {
      last = readRetry(textOf(message['method']), fieldsOf(message['params']))?.error ?? last;
      const failure = findFailure(fieldsOf(message['result']));
      if (failure !== undefined) return [[test, failure.error] as const];
      const { code, message: text, data } = fieldsOf(message['error']);
      if (code === undefined) return [];
      return [[test, classifyError(new RpcError(numberOf(code), textOf(text), data), NOW).error ?? last] as const];
    });
    return Object.fromEntries(found);
  };

  it.each([
    ['claude-acp-errors', { 401: 'unauthorized', 402: null, 429: 'rate_limited', 500: 'no_internet' }],
    ['gemini-acp-errors', { 401: 'unauthorized', 402: 'out_of_credits', 429: 'rate_limited', 500: 'no_internet' }],
    ['grok-errors', { 401: 'unauthorized', 402: 'out_of_credits', '429 quota': 'rate_limited' }],
    ['qwen-errors', { 401: 'unauthorized', 402: 'out_of_credits' }],
    ['opencode-errors', { 401: null, 402: null }],
    [
      'codex-acp-errors',
      {
        401: 'unauthorized',
        '429, sessionFailure declared': 'rate_limited',
        '500, sessionFailure declared': 'no_internet',
      },
    ],
  ])('%s', (file, kinds) => {
    expect(kindsOf(file)).toMatchObject(kinds);
  });

  it("finds the end of a limit in Gemini CLI's message", () => {
    const error = new RpcError(429, 'quota\nSuggested retry after 3600s.');
    expect(classifyError(error, NOW)).toMatchObject({ error: 'rate_limited', resetAt: '2026-01-01T01:00:00.000Z' });
  });

  it('derives no kind from text', () => {
    const error = new RpcError(-32_603, '429 Too Many Requests: rate_limit', 'HTTP 401');
    expect(classifyError(error, NOW)).toMatchObject({ error: null });
  });
});
