import { type Fields, fieldsOf, isObject, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { TokenUse } from './request-meter.ts';

/**
 * Reads the usage from one JSON document of an answer, or from one event of a stream; undefined if it has none. The
 * format is recognized by its fields, because gateways serve each of the three APIs at any path.
 */
export function readUsage(document: unknown): TokenUse | undefined {
  return holdersIn(document).map(readOwn).reduce(mergeUse, undefined);
}

/** Anthropic's stream nests its fields in `message`, OpenAI's Responses and Google's Code Assist in `response`. */
function holdersIn(document: unknown): readonly unknown[] {
  return [document, fieldsOf(document)['message'], fieldsOf(document)['response']];
}

/** Reads the model, which most events name, also those without usage. */
export function readModel(document: unknown): string | undefined {
  const names = holdersIn(document).map((holder) => {
    const { model, modelVersion } = fieldsOf(holder);
    return textOf(model) || textOf(modelVersion);
  });
  return names.find((name) => name !== '');
}

/** Joins two readings of one answer. APIs repeat totals, so the larger value of each field counts. */
export function mergeUse(a: TokenUse | undefined, b: TokenUse | undefined): TokenUse | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    model: b.model ?? a.model,
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cached: Math.max(a.cached, b.cached),
  };
}

function readOwn(holder: unknown): TokenUse | undefined {
  const { usage, usageMetadata } = fieldsOf(holder);
  const counted = isObject(usageMetadata) ? readGemini(usageMetadata) : isObject(usage) ? readNamed(usage) : undefined;
  return counted === undefined ? undefined : { model: readModel(holder) ?? null, ...counted };
}

type Counted = Omit<TokenUse, 'model'>;

function readNamed(usage: Fields): Counted | undefined {
  const { prompt_tokens, input_tokens, input_tokens_details, total_tokens } = usage;
  if (isCount(prompt_tokens)) return readOpenAi(usage, 'prompt_tokens', 'completion_tokens');
  const isResponse = input_tokens_details !== undefined || total_tokens !== undefined;
  if (isCount(input_tokens) && isResponse) return readOpenAi(usage, 'input_tokens', 'output_tokens');
  return readAnthropic(usage);
}

/** OpenAI's input includes the cached tokens. */
function readOpenAi(usage: Fields, input: string, output: string): Counted {
  const all = count(usage[input]);
  const cached = Math.min(all, count(fieldsOf(usage[`${input}_details`])['cached_tokens']));
  return complete({ input: all - cached, output: count(usage[output]), cached }, count(usage['total_tokens']));
}

/** The prompt includes the cached tokens. Thoughts and results of tools are counted beside the other tokens. */
function readGemini(usage: Fields): Counted {
  const cached = Math.min(count(usage['promptTokenCount']), count(usage['cachedContentTokenCount']));
  const input = count(usage['promptTokenCount']) - cached + count(usage['toolUsePromptTokenCount']);
  const output = count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']);
  return complete({ input, output, cached }, count(usage['totalTokenCount']));
}

/** Some models count tokens only in the total. The difference counts as output, which costs the most. */
function complete(counted: Counted, total: number): Counted {
  const missing = Math.max(0, total - counted.input - counted.output - counted.cached);
  return { ...counted, output: counted.output + missing };
}

/** Anthropic counts cached tokens beside the input. Each iteration of a request is billed, and some totals omit them. */
function readAnthropic(usage: Fields): Counted | undefined {
  if (!isCount(usage['input_tokens']) && !isCount(usage['output_tokens'])) return undefined;
  const own = {
    input: count(usage['input_tokens']) + count(usage['cache_creation_input_tokens']),
    output: count(usage['output_tokens']),
    cached: count(usage['cache_read_input_tokens']),
  };
  const { iterations } = usage;
  const each = Array.isArray(iterations)
    ? iterations.filter(isObject).flatMap((one) => readAnthropic({ ...one, iterations: undefined }) ?? [])
    : [];
  const sum = (name: keyof Counted): number => each.reduce((total, one) => total + one[name], 0);
  return {
    input: Math.max(own.input, sum('input')),
    output: Math.max(own.output, sum('output')),
    cached: Math.max(own.cached, sum('cached')),
  };
}

/**
 * The UTF-8 bytes of what a model wrote in one event of a stream. No API splits a byte into several tokens, so they are
 * a bound.
 */
export function countWrittenBytes(event: unknown): number {
  const { delta, choices, candidates, response } = fieldsOf(event);
  const inner = fieldsOf(response)['candidates'];
  return [delta, choices, candidates, inner].reduce((sum: number, part) => sum + countTextBytes(part, MAX_DEPTH), 0);
}

const MAX_DEPTH = 12;
/** Fields whose text the API writes, not the model. */
const LABELS: ReadonlySet<string> = new Set(['type', 'role', 'id', 'finish_reason', 'finishReason', 'stop_reason']);

function countTextBytes(value: unknown, depth: number): number {
  if (typeof value === 'string') return new TextEncoder().encode(value).length;
  if (typeof value !== 'object' || value === null || depth === 0) return 0;
  return Object.entries(value).reduce(
    (sum, [name, each]) => (LABELS.has(name) ? sum : sum + countTextBytes(each, depth - 1)),
    0,
  );
}

/** The most that an answer which goes on in the background may write; undefined for other answers. */
export function readBackground(event: unknown): number | undefined {
  const isOpen = fieldsOf(event)['status'] === 'queued' || fieldsOf(event)['status'] === 'in_progress';
  const going = [event, fieldsOf(event)['response']]
    .map(fieldsOf)
    .find(({ object, background }, at) => object === 'response' && (background === true || (at === 0 && isOpen)));
  if (going === undefined) return undefined;
  const { max_output_tokens: most } = going;
  return isCount(most) && most > 0 ? count(most) : MOST_OUTPUT;
}

/** Reports whether an event is one of the last of a stream, so that a usage with it or after it is the final one. */
export function endsAnswer(event: unknown): boolean {
  const { type, status, delta, choices, candidates, response, promptFeedback } = fieldsOf(event);
  const inner = fieldsOf(response);
  const states = [status, inner['status'], textOf(type).replace(/^response\./, '')];
  if (type === 'message_stop' || states.some((state) => ENDED.has(textOf(state)))) return true;
  const parts = [delta, choices, candidates, inner['candidates'], promptFeedback].flatMap((part) => part);
  return parts.map(fieldsOf).some((part) => END_NAMES.some((name) => textOf(part[name]) !== ''));
}

const END_NAMES = ['stop_reason', 'finish_reason', 'finishReason', 'blockReason'];
const ENDED: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed', 'cancelled']);

/** Reports whether an event says nothing but that the API has failed. */
export function isErrorEvent(event: unknown): boolean {
  const { type, error, choices, candidates, response } = fieldsOf(event);
  const isAnswer = choices !== undefined || candidates !== undefined || response !== undefined;
  return type === 'error' || (isObject(error) && !isAnswer);
}

/** Reports whether an event of a stream only keeps the connection open. */
export function isKeepAlive(event: unknown): boolean {
  return fieldsOf(event)['type'] === 'ping';
}

/** The longest output of any model that Baton knows. */
const MOST_OUTPUT = 128_000;

/** More than any request uses. A larger number is a mistake, and sums of it would not be exact. */
const MOST_TOKENS = 1_000_000_000;

function count(value: unknown): number {
  return isCount(value) ? Math.min(value, MOST_TOKENS) : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
