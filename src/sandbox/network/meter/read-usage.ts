import { type Fields, fieldsOf, isObject, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { TokenUse } from './request-meter.ts';

/**
 * Reads the usage from one JSON document of an answer, or from one event of a stream; undefined if it has none. The
 * format is recognized by its fields, because gateways serve each of the three APIs at any path.
 */
export function readUsage(document: unknown): TokenUse | undefined {
  if (Array.isArray(document)) return document.map(readUsage).reduce(mergeUse, undefined);
  // Anthropic's stream nests the usage in `message`, OpenAI's Responses and Google's Code Assist in `response`.
  return [document, fieldsOf(document)['message'], fieldsOf(document)['response']]
    .map(readOwn)
    .reduce(mergeUse, undefined);
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
  const { usage, usageMetadata, model, modelVersion } = fieldsOf(holder);
  const name = textOf(model) || textOf(modelVersion);
  const counted = isObject(usageMetadata) ? readGemini(usageMetadata) : isObject(usage) ? readNamed(usage) : undefined;
  return counted === undefined ? undefined : { model: name === '' ? null : name, ...counted };
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
  const each = Array.isArray(iterations) ? iterations.filter(isObject).flatMap((one) => readAnthropic(one) ?? []) : [];
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
  if (Array.isArray(event)) return event.reduce((sum: number, one) => sum + countWrittenBytes(one), 0);
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
export function readBackground(document: unknown): number | undefined {
  const { object, status, max_output_tokens } = fieldsOf(document);
  if (object !== 'response' || (status !== 'queued' && status !== 'in_progress')) return undefined;
  return isCount(max_output_tokens) ? max_output_tokens : MOST_OUTPUT;
}

/** Reports whether an event says that the API has failed. */
export function isErrorEvent(event: unknown): boolean {
  const { type, error } = fieldsOf(event);
  return type === 'error' || isObject(error);
}

/** The longest output of any model that Baton knows. */
const MOST_OUTPUT = 128_000;

function count(value: unknown): number {
  return isCount(value) ? value : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
