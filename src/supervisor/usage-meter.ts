import { readFileSync } from 'node:fs';
import { writeWhole } from '../api/write-whole.ts';
import type { Usage, UsageSaid } from '../streams/said.ts';
import { closeTurn, EMPTY_TALLY, NOTHING_USED, openOf, plus, tally, totalOf, type Tally } from '../streams/tally.ts';
import type { AgentReport } from './contract.ts';

type Used = Extract<AgentReport, { kind: 'used' }>;

interface Kept {
  readonly tally: Tally;
  readonly turns: number;
  readonly waiting: number;
  readonly model: string | null;
  readonly conversation: string | null;
  /** When a turn was last counted; RFC 3339. */
  readonly countedAt: string | null;
}

const NOTHING: Kept = { tally: EMPTY_TALLY, turns: 0, waiting: 0, model: null, conversation: null, countedAt: null };

/**
 * What an agent has used so far, over all its processes: the next one goes on with what the one before left in the agent's folder. What
 * it uses while nobody has told it anything is counted apart.
 */
export class UsageMeter {
  readonly #path: string;
  #kept: Kept;
  #told: string | undefined;
  #toldTokens: number;

  /** The turn that the process before did not live to tell whole is closed, unless somebody can still tell it. */
  constructor(path: string, { closes = true }: { readonly closes?: boolean } = {}) {
    this.#path = path;
    this.#kept = read(path);
    if (closes) this.closeTurn();
    this.#toldTokens = tokensOf(totalOf(this.#kept.tally));
  }

  model(model: string): void {
    this.#kept = { ...this.#kept, model };
  }

  /** A client that counts whole conversations begins at nothing again in a new one. */
  conversation(conversation: string): void {
    const { tally: before, conversation: known } = this.#kept;
    const isNew = known !== null && known !== conversation;
    const carried = { ...before, turns: plus(before.turns, before.conversation), conversation: NOTHING_USED };
    this.#kept = { ...this.#kept, conversation, ...(isNew ? { tally: carried } : {}) };
  }

  add(said: UsageSaid, isWaiting: boolean): void {
    const before = tokensOf(totalOf(this.#kept.tally));
    const after = tally(this.#kept.tally, said);
    const spent = Math.max(0, tokensOf(totalOf(after)) - before);
    const waiting = this.#kept.waiting + (isWaiting ? spent : 0);
    // A message is counted when it begins: only a turn is counted whole.
    const countedAt = said.of === 'message' ? this.#kept.countedAt : new Date().toISOString();
    this.#kept = { ...this.#kept, tally: after, waiting, countedAt };
  }

  /** It will not be told whole any more: what its messages said is all that is known. */
  closeTurn(): void {
    this.#kept = { ...this.#kept, tally: closeTurn(this.#kept.tally) };
  }

  /** All of them, so far. */
  get tokens(): number {
    return tokensOf(totalOf(this.#kept.tally));
  }

  get countedAt(): string | null {
    return this.#kept.countedAt;
  }

  turnEnded(): void {
    this.#kept = { ...this.#kept, turns: this.#kept.turns + 1 };
  }

  /** It has used something that nobody was told of. */
  get hasUsed(): boolean {
    return tokensOf(totalOf(this.#kept.tally)) !== this.#toldTokens;
  }

  /** What is to be told; undefined where nothing has changed since it was told last. */
  take(): Used | undefined {
    const { turns, waiting, model, conversation } = this.#kept;
    if (turns === 0 && conversation === null) return undefined;
    const { input, output, cacheRead, cacheWrite, costMillicents } = totalOf(this.#kept.tally);
    // Where it prices nothing at all, everything is for others to price.
    const lasting = costMillicents === null ? NOTHING_USED : this.#kept.tally.unpriced;
    const open = plus(openOf(this.#kept.tally), lasting);
    const used: Used = {
      kind: 'used',
      conversation_id: conversation,
      model,
      input_tokens: input,
      output_tokens: output,
      cached_tokens: cacheRead + cacheWrite,
      cost_millicents: costMillicents,
      turns,
      waiting_tokens: waiting,
      open_input_tokens: open.input,
      open_output_tokens: open.output,
      open_cached_tokens: open.cacheRead + open.cacheWrite,
      unpriced_tokens: tokensOf(lasting),
    };
    const text = JSON.stringify(used);
    if (text === this.#told) return undefined;
    this.#told = text;
    this.#toldTokens = tokensOf(totalOf(this.#kept.tally));
    writeWhole(this.#path, JSON.stringify(this.#kept));
    return used;
  }
}

function tokensOf({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}

function read(path: string): Kept {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return NOTHING;
    const kept: Kept = { ...NOTHING, ...value };
    return { ...kept, tally: { ...EMPTY_TALLY, ...kept.tally } };
  } catch {
    return NOTHING;
  }
}
