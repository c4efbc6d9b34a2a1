import { type Fields, fieldsOf, isObject, numberOf, objectsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { TokenUsage } from '../../../streams/stream-event.ts';
import { addUsage, NOTHING_USED } from '../../../streams/tally.ts';
import type { UsageReport } from '../preset.ts';

/** Converts an agent's reports to usage of turns and messages. Agents differ in what their numbers cover. */
export class AgentUsage {
  readonly #covers: UsageReport;
  #messages: TokenUsage = NOTHING_USED;
  #requests = 0;
  /** Running totals at the end of the last turn. */
  #total: TokenUsage = NOTHING_USED;
  #costBefore: number;
  #cost: number | null = null;

  /** `costBefore`: the last cost reported by an earlier process of the same conversation. */
  constructor(covers: UsageReport, costBefore = 0) {
    this.#covers = covers;
    this.#costBefore = costBefore;
  }

  /** The usage of one request to the model, with its number; undefined if the update has none. */
  onUpdate(update: Fields): { readonly id: string; readonly usage: TokenUsage } | undefined {
    if (update['sessionUpdate'] === 'usage_update') this.#onCost(fieldsOf(update['cost']));
    if (this.#covers !== 'message') return undefined;
    const usage = readTokens(fieldsOf(update['_meta'])['usage']);
    if (usage === undefined) return undefined;
    this.#messages = addUsage(this.#messages, usage);
    return { id: `request-${(this.#requests += 1)}`, usage };
  }

  /** The usage of the turn that has ended; undefined if the agent reports none. */
  onTurnEnd(response: Fields): TokenUsage | undefined {
    const reported = readTokens(response['usage']) ?? readMeta(fieldsOf(response['_meta']));
    const ofTurn = this.#covers === 'conversation' && reported !== undefined ? this.#since(reported) : reported;
    const summed = this.#messages === NOTHING_USED ? undefined : this.#messages;
    this.#messages = NOTHING_USED;
    const costMillicents = this.#takeCost();
    const tokens = ofTurn ?? summed ?? (costMillicents === null ? undefined : NOTHING_USED);
    return tokens === undefined ? undefined : { ...tokens, costMillicents };
  }

  #since(total: TokenUsage): TokenUsage {
    const before = this.#total;
    this.#total = total;
    const less = (name: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): number =>
      total[name] >= before[name] ? total[name] - before[name] : total[name];
    return {
      input: less('input'),
      output: less('output'),
      cacheRead: less('cacheRead'),
      cacheWrite: less('cacheWrite'),
      costMillicents: null,
    };
  }

  /** The cost of the whole conversation. Other currencies cannot be added to a budget in dollars. */
  #onCost({ amount, currency }: Fields): void {
    if (currency === 'USD' && typeof amount === 'number' && amount >= 0) this.#cost = Math.min(amount, MAX_DOLLARS);
  }

  /** In dollars; null if the agent reports none. */
  get cost(): number | null {
    return this.#cost;
  }

  /**
   * Returns the cost since the last call. Some agents count the whole conversation, others only this process; the
   * latter then report less than before.
   */
  #takeCost(): number | null {
    if (this.#cost === null) return null;
    const since = this.#cost >= this.#costBefore ? this.#cost - this.#costBefore : this.#cost;
    this.#costBefore = this.#cost;
    return Math.round(since * MILLICENTS);
  }
}

const MILLICENTS = 100_000;
/** The daemon refuses a whole report if one number is not an integer or is too large. */
const MAX_TOKENS = 1_000_000_000_000;
const MAX_DOLLARS = 1_000_000;

/** The model that answered, if the agent names it. */
export function findModel(response: Fields): string | undefined {
  const { modelId, quota } = fieldsOf(response['_meta']);
  const [first] = objectsOf(fieldsOf(quota)['model_usage']).map(({ model }) => textOf(model));
  return (textOf(modelId) || first || '').slice(0, 500) || undefined;
}

/**
 * Reads the names of ACP and those of Gemini CLI. Thoughts are billed as output. Some agents count cached tokens as
 * input too, which the total shows.
 */
function readTokens(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const count = (...names: readonly string[]): number =>
    toCount(names.map((name) => value[name]).find((each) => typeof each === 'number'));
  const cacheRead = count('cachedReadTokens');
  const cacheWrite = count('cachedWriteTokens', 'cacheCreationTokens');
  const all = count('inputTokens', 'input_tokens');
  const output = count('outputTokens', 'output_tokens') + count('thoughtTokens');
  const hasCached = count('totalTokens') === all + output && all >= cacheRead + cacheWrite;
  const input = hasCached ? all - cacheRead - cacheWrite : all;
  return { input, output, cacheRead, cacheWrite, costMillicents: null };
}

function toCount(value: unknown): number {
  return Math.ceil(Math.min(Math.max(0, numberOf(value)), MAX_TOKENS));
}

/** Reads the fields that agents used before ACP had one for usage. */
function readMeta({ usage, quota }: Fields): TokenUsage | undefined {
  return readTokens(usage) ?? readTokens(fieldsOf(quota)['token_count']);
}
