import { describe, expect, it } from 'vitest';
import { AnswerReader } from './answer-reader.ts';
import { countWrittenBytes, readUsage } from './read-usage.ts';

const WHOLE = { input: 900, isWhole: true, seconds: 2, answers: 1, model: 'asked' };
const CUT = { ...WHOLE, isWhole: false };
/** What an answer counts of which only its time is known. */
const BY_TIME = { model: 'asked', input: 900, output: 200, cached: 0 };

function read(body: string, end = WHOLE, step = 7) {
  const reader = new AnswerReader();
  const bytes = new TextEncoder().encode(body);
  for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
  return reader.end(end);
}

function stream(...events: readonly object[]): string {
  return events.map((event) => `event: x\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join('');
}

describe('the usage of one answer', () => {
  it.each([
    [
      'Anthropic Messages',
      {
        type: 'message',
        model: 'claude-x',
        usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 7 },
      },
      { model: 'claude-x', input: 15, output: 7, cached: 100 },
    ],
    [
      'Anthropic Messages with iterations that its total omits',
      {
        model: 'claude-x',
        usage: {
          input_tokens: 10,
          output_tokens: 7,
          iterations: [
            { type: 'compaction', input_tokens: 900, output_tokens: 50 },
            { type: 'message', input_tokens: 10, output_tokens: 7 },
          ],
        },
      },
      { model: 'claude-x', input: 910, output: 57, cached: 0 },
    ],
    [
      'OpenAI Responses',
      {
        object: 'response',
        model: 'gpt-x',
        usage: {
          input_tokens: 110,
          input_tokens_details: { cached_tokens: 100 },
          output_tokens: 9,
          output_tokens_details: { reasoning_tokens: 4 },
          total_tokens: 119,
        },
      },
      { model: 'gpt-x', input: 10, output: 9, cached: 100 },
    ],
    [
      'OpenAI Chat Completions',
      {
        model: 'gpt-x',
        choices: [{ message: { content: 'no usage in here' } }],
        usage: {
          prompt_tokens: 110,
          completion_tokens: 9,
          total_tokens: 119,
          prompt_tokens_details: { cached_tokens: 60 },
        },
      },
      { model: 'gpt-x', input: 50, output: 9, cached: 60 },
    ],
    [
      'Gemini generateContent, with thoughts and results of tools',
      {
        modelVersion: 'gemini-x',
        usageMetadata: {
          promptTokenCount: 100,
          cachedContentTokenCount: 40,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 20,
          toolUsePromptTokenCount: 3,
          totalTokenCount: 128,
        },
      },
      { model: 'gemini-x', input: 63, output: 25, cached: 40 },
    ],
    [
      'Gemini, if only the total counts the thoughts',
      { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 5, totalTokenCount: 130 } },
      { model: null, input: 100, output: 30, cached: 0 },
    ],
  ])('is read: %s', (_, document, used) => {
    expect(readUsage(document)).toEqual(used);
    expect(read(JSON.stringify(document, null, 2))).toEqual({ ...used, model: used.model ?? 'asked' });
  });

  it('is not read from what a model wrote, nor from counts that are none', () => {
    const said = '{"usage":{"input_tokens":0,"output_tokens":0}}';
    expect(readUsage({ choices: [{ message: { content: said } }] })).toBeUndefined();
    expect(readUsage({ usage: { input_tokens: -5, output_tokens: 'many' } })).toBeUndefined();
    expect(readUsage({ usage: null })).toBeUndefined();
    expect(readUsage('usage')).toBeUndefined();
  });
});

const ANTHROPIC = [
  { type: 'message_start', message: { model: 'claude-x', usage: { input_tokens: 50, output_tokens: 1 } } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 12 } },
  { type: 'message_stop' },
];

describe('the usage of a stream', () => {
  it.each([1, 7, 4096])('is read in pieces of %i bytes: Anthropic', (step) => {
    expect(read(stream(...ANTHROPIC), WHOLE, step)).toEqual({ model: 'claude-x', input: 50, output: 12, cached: 0 });
  });

  it('is read: OpenAI Responses', () => {
    const usage = { input_tokens: 30, input_tokens_details: { cached_tokens: 20 }, output_tokens: 4, total_tokens: 34 };
    const body = stream(
      { type: 'response.created', response: { object: 'response', status: 'in_progress', usage: null } },
      { type: 'response.output_text.delta', delta: 'hello' },
      { type: 'response.completed', response: { object: 'response', model: 'gpt-x', usage } },
    );
    expect(read(body)).toEqual({ model: 'gpt-x', input: 10, output: 4, cached: 20 });
  });

  it('is read: OpenAI Chat Completions with its last chunk, which has no choices', () => {
    const usage = { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 };
    const body = `${stream({ model: 'gpt-x', choices: [{ delta: { content: 'hi' }, finish_reason: 'stop' }], usage: null }, { model: 'gpt-x', choices: [], usage })}data: [DONE]\n\n`;
    expect(read(body)).toEqual({ model: 'gpt-x', input: 30, output: 4, cached: 0 });
  });

  it('is read: Gemini, as events and as one array', () => {
    const chunks = [1, 9].map((candidatesTokenCount) => ({
      candidates: [{ content: { parts: [{ text: 'abc' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount, totalTokenCount: 20 + candidatesTokenCount },
    }));
    const used = { model: 'asked', input: 20, output: 9, cached: 0 };
    expect(read(stream(...chunks))).toEqual(used);
    expect(read(JSON.stringify(chunks))).toEqual(used);
  });

  it('counts by a bound where it was cut: what was written, and what may have been thought', () => {
    const early = stream(...ANTHROPIC.slice(0, 2));
    expect(read(early, { ...CUT, seconds: 0 })).toEqual({ model: 'claude-x', input: 50, output: 7, cached: 0 });
    expect(read(early, { ...CUT, seconds: 30 })).toMatchObject({ input: 50, output: 3000 });
    expect(read('', CUT)).toEqual(BY_TIME);
    // A reading near the end counts, if it is the larger one.
    const late = [{ usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5000 } }];
    expect(read(stream(...late), CUT)).toMatchObject({ input: 20, output: 5000 });
  });

  it.each([
    ['nothing', ''],
    ['text without usage', stream({ choices: [{ delta: { content: 'four' }, finish_reason: 'stop' }] })],
    ['a document without usage', '{"id":"x"}'],
    ['a binary format', '\u0000binary\u0001'],
    ['a document that is not complete', '{"usage":{"prompt_tokens":1,"completion_tokens":1}'],
    ['several documents', '{"usage":{"prompt_tokens":1,"completion_tokens":1}}\n{}'],
    ['negative numbers', '{"usage":{"prompt_tokens":-1,"completion_tokens":-1,"total_tokens":-2}}'],
    ['fractions', '{"usage":{"prompt_tokens":1.5,"completion_tokens":0.5}}'],
    ['zeros', '{"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}'],
    ['only keep-alives', stream({ type: 'ping' }, { type: 'ping' })],
    ['an end and no usage', stream({ type: 'message_stop' })],
  ])('counts by the time, also of a whole answer, if it names %s', (_, body) => {
    expect(read(body)).toEqual(BY_TIME);
    expect(read(body, { ...WHOLE, seconds: 300 })).toMatchObject({ input: 900, output: 30_000 });
    expect(read(body, { ...WHOLE, answers: 8 })).toMatchObject({ output: 1600 });
  });

  it('counts by the bytes if they are more than the time allows', () => {
    const written = stream({ choices: [{ delta: { content: 'x'.repeat(900) } }] });
    expect(read(written)).toMatchObject({ input: 900, output: 900 });
    expect(read('x'.repeat(901))).toMatchObject({ output: 901 });
  });

  it('counts by the time if only an early event named a usage, even if the connection ended well', () => {
    expect(read(stream(...ANTHROPIC.slice(0, 2)))).toEqual({ model: 'claude-x', input: 50, output: 200, cached: 0 });
    const early = { usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5 } };
    expect(read(stream(early))).toMatchObject({ input: 20, output: 200 });
    expect(read(stream({ ...early, candidates: [{ finishReason: 'STOP' }] }))).toMatchObject({ output: 5 });
    const half = JSON.stringify({ usage: { input_tokens: 30, output_tokens: -4 } });
    expect(read(half)).toMatchObject({ input: 30, output: 200 });
    expect(read('{"usage":{"input_tokens":-30,"output_tokens":4}}')).toMatchObject({ input: 900, output: 4 });
  });

  it('counts the larger of two usages, and no absurd one', () => {
    const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 3, completion_tokens } });
    const end = { choices: [{ finish_reason: 'stop' }] };
    expect(read(stream(usage(7), end, usage(2)))).toMatchObject({ input: 3, output: 7 });
    expect(read(stream(usage(Number.MAX_SAFE_INTEGER), end))).toMatchObject({ output: 1_000_000_000 });
    expect(read(stream(usage(1e300), end))).toMatchObject({ output: 200 });
  });

  it('names the model of any event, also without usage', () => {
    expect(read(stream({ model: 'gpt-x', choices: [{ delta: { content: 'hi' } }] }))).toMatchObject({ model: 'gpt-x' });
    expect(read(stream({ type: 'response.created', response: { model: 'gpt-y' } }), CUT).model).toBe('gpt-y');
  });

  it('counts the most that an answer in the background may write, as a document and as an event', () => {
    const queued = { object: 'response', status: 'queued', background: true, usage: null };
    expect(read(JSON.stringify({ ...queued, max_output_tokens: 700 }))).toMatchObject({ input: 900, output: 700 });
    expect(read(JSON.stringify(queued))).toMatchObject({ output: 128_000 });
    const created = { type: 'response.created', response: queued };
    expect(read(stream(created), CUT)).toMatchObject({ input: 900, output: 128_000 });
    expect(read(stream(created, { type: 'response.failed', response: { ...queued, status: 'failed' } }))).toMatchObject(
      {
        output: expect.toSatisfy((output: number) => output < 1000),
      },
    );
    // Without `background`, the API stops with the connection.
    const plain = { type: 'response.created', response: { object: 'response', status: 'in_progress', model: 'm' } };
    expect(read(stream(plain), CUT)).toMatchObject({ output: 200 });
  });

  it.each([
    [
      'an event',
      stream({ type: 'ping' }, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
    ['a document', '{"error":{"code":429}}'],
    ['an array', '[{"error":{"code":429}}]'],
  ])('counts nothing if the API has only failed: %s', (_, body) => {
    expect(read(body)).toEqual({ model: 'asked', input: 0, output: 0, cached: 0 });
  });

  it('counts by the time if the API failed in the middle of an answer', () => {
    const failed = { type: 'error', error: { type: 'api_error', message: 'x' } };
    expect(read(stream(...ANTHROPIC.slice(0, 1), failed))).toMatchObject({ input: 50, output: 200 });
    const created = { type: 'response.created', response: { object: 'response', status: 'in_progress' } };
    expect(read(stream(created, failed))).toMatchObject({ input: 900, output: 200 });
  });

  it('counts the bytes of everything that was written', () => {
    expect(countWrittenBytes({ delta: { type: '', partial_json: '{"ä":1}' } })).toBe(8);
    expect(countWrittenBytes({ type: 'response.created', response: { id: 'abc' } })).toBe(0);
  });
});
