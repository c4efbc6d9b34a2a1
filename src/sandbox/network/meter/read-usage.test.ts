import { describe, expect, it } from 'vitest';
import { AnswerReader } from './answer-reader.ts';
import { countWrittenBytes, readUsage } from './read-usage.ts';

const WHOLE = { input: 900, isWhole: true, seconds: 2 };
const CUT = { input: 900, isWhole: false, seconds: 2 };

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
    expect(read(JSON.stringify(document, null, 2))).toEqual(used);
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
    const body = `${stream({ model: 'gpt-x', choices: [{ delta: { content: 'hi' } }], usage: null }, { model: 'gpt-x', choices: [], usage })}data: [DONE]\n\n`;
    expect(read(body)).toEqual({ model: 'gpt-x', input: 30, output: 4, cached: 0 });
  });

  it('is read: Gemini, as events and as one array', () => {
    const chunks = [1, 9].map((candidatesTokenCount) => ({
      candidates: [{ content: { parts: [{ text: 'abc' }] } }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount, totalTokenCount: 20 + candidatesTokenCount },
    }));
    const used = { model: null, input: 20, output: 9, cached: 0 };
    expect(read(stream(...chunks))).toEqual(used);
    expect(read(JSON.stringify(chunks))).toEqual(used);
  });

  it('counts by a bound where it was cut: what was written, and what may have been thought', () => {
    const early = stream(...ANTHROPIC.slice(0, 2));
    expect(read(early, { ...CUT, seconds: 0 })).toEqual({ model: 'claude-x', input: 50, output: 7, cached: 0 });
    expect(read(early, { ...CUT, seconds: 30 })).toMatchObject({ input: 50, output: 3000 });
    expect(read('', CUT)).toEqual({ model: null, input: 900, output: 200, cached: 0 });
    // A reading near the end counts, if it is the larger one.
    const late = [{ usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5000 } }];
    expect(read(stream(...late), CUT)).toMatchObject({ input: 20, output: 5000 });
  });

  it('counts by a bound if it names no usage', () => {
    const chat = stream({ choices: [{ delta: { content: 'four' } }] }, { choices: [{ delta: { content: 'five5' } }] });
    expect(read(chat)).toEqual({ model: null, input: 900, output: 9, cached: 0 });
    expect(read('{"id":"x"}')).toEqual({ model: null, input: 900, output: 10, cached: 0 });
    expect(read('\u0000binary\u0001')).toEqual({ model: null, input: 900, output: 8, cached: 0 });
  });

  it('counts the most that an answer in the background may write', () => {
    const queued = { object: 'response', status: 'queued', background: true, usage: null };
    expect(read(JSON.stringify({ ...queued, max_output_tokens: 700 }))).toMatchObject({ input: 900, output: 700 });
    expect(read(JSON.stringify(queued))).toMatchObject({ output: 128_000 });
  });

  it('counts no bound if the API has failed', () => {
    const failed = stream({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    expect(read(failed)).toEqual({ model: null, input: 0, output: 0, cached: 0 });
  });

  it('counts the bytes of everything that was written', () => {
    expect(countWrittenBytes({ delta: { type: '', partial_json: '{"ä":1}' } })).toBe(8);
    expect(countWrittenBytes({ type: 'response.created', response: { id: 'abc' } })).toBe(0);
  });
});
