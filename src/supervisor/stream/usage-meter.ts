import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import type { TokenUsage, UsageEvent } from '../../streams/stream-event.ts';
import {
  addToTally,
  addUsage,
  closeTurn,
  countTokens,
  EMPTY_TALLY,
  NOTHING_USED,
  openTurnUsage,
  totalUsage,
  type UsageTally,
} from '../../streams/tally.ts';
import type { TokenUse } from '../../sandbox/network/meter/request-meter.ts';
import { STREAMS } from '../../streams/reader.ts';
import type { Launch } from '../contract.ts';
import { isShortOfResources } from '../disk-room.ts';
import { recordsOf } from './client-records.ts';

type UsageReport = Extract<AgentReport, { kind: 'used' }>;

interface StoredUsage {
  readonly tally: UsageTally;
  readonly turns: number;
  readonly waiting: number;
  readonly model: string | null;
  readonly conversation: string | null;
  /** The time at which a turn was last counted; RFC 3339. */
  readonly countedAt: string | null;
  readonly largest: TokenUsage;
  /** What Baton's proxy has measured; the client's own count is then only compared. Null if nothing was measured. */
  readonly measured: MeasuredUsage | null;
}

interface MeasuredUsage extends Pick<TokenUse, 'model' | 'input' | 'output' | 'cached'> {
  readonly waiting: number;
}

const NOTHING: StoredUsage = {
  tally: EMPTY_TALLY,
  turns: 0,
  waiting: 0,
  model: null,
  conversation: null,
  countedAt: null,
  largest: NOTHING_USED,
  measured: null,
};

/** The usage of an agent over all its processes. Each process continues the file of the previous one. */
export class UsageMeter {
  readonly #path: string;
  readonly #isMeasured: boolean;
  #kept: StoredUsage;
  #reported: string | undefined;
  #requests = 0;
  #reserved: Pick<TokenUse, 'input' | 'output'> = { input: 0, output: 0 };
  /** Whether it is unknown if the daemon recorded the last report. */
  #isUnsettled = false;

  /**
   * `closes`: whether to close a turn that the previous process did not count in full and that no record can complete.
   */
  constructor(
    path: string,
    { closes = true, isMeasured = false }: { readonly closes?: boolean; readonly isMeasured?: boolean } = {},
  ) {
    this.#path = path;
    this.#kept = read(path);
    this.#isMeasured = isMeasured;
    if (closes) this.closeTurn();
    if (isMeasured && this.#kept.measured === null) this.#kept = { ...this.#kept, measured: this.#beginMeasuring() };
  }

  /** What an earlier process used without being measured stays counted. */
  #beginMeasuring(): MeasuredUsage {
    const { tally, model, waiting } = this.#kept;
    const { input, cacheWrite, output, cacheRead } = totalUsage(tally);
    return { model, input: input + cacheWrite, output, cached: cacheRead, waiting };
  }

  /** The model of the measured usage; null before the first answer. */
  get measuredModel(): string | null {
    return this.#kept.measured?.model ?? null;
  }

  /** Adds what one request used, as Baton's proxy read it from the answer. */
  addMeasured(used: TokenUse, isWaiting: boolean): void {
    const { measured } = this.#kept;
    if (measured === null) return;
    const after = {
      model: used.model ?? measured.model,
      input: measured.input + used.input,
      output: measured.output + used.output,
      cached: measured.cached + used.cached,
      waiting: measured.waiting + (isWaiting ? used.input + used.output + used.cached : 0),
    };
    this.#kept = { ...this.#kept, measured: after };
  }

  /** Sets what measured requests in progress may use. */
  setReserved(reserved: Pick<TokenUse, 'input' | 'output'>): void {
    this.#reserved = reserved;
  }

  setModel(model: string): void {
    this.#kept = { ...this.#kept, model };
  }

  /** Starts a conversation, in which a client that counts whole conversations starts at zero. */
  setConversation(conversation: string): void {
    const { tally: before, conversation: known } = this.#kept;
    const isNew = known !== null && known !== conversation;
    const carried = { ...before, turns: addUsage(before.turns, before.conversation), conversation: NOTHING_USED };
    this.#kept = { ...this.#kept, conversation, ...(isNew ? { tally: carried } : {}) };
  }

  add(event: UsageEvent, isWaiting: boolean): void {
    const before = totalUsage(this.#kept.tally);
    const after = addToTally(this.#kept.tally, event);
    const spent = Math.max(0, countTokens(totalUsage(after)) - countTokens(before));
    // The key is not injected any more, so the client's count goes on where the measurement ended.
    if (!this.#isMeasured) this.addMeasured(growth(before, totalUsage(after)), isWaiting);
    const waiting = this.#kept.waiting + (isWaiting ? spent : 0);
    // A message is counted at its start; only a turn is counted in full.
    const countedAt = event.of === 'message' ? this.#kept.countedAt : new Date().toISOString();
    const request = event.of === 'message' ? after.open[event.id ?? ''] : event.request;
    this.#kept = { ...this.#kept, tally: after, waiting, countedAt, largest: larger(this.#kept.largest, request) };
  }

  /** Closes a turn that the client will not report in full any more; the counts of its messages stay. */
  closeTurn(): void {
    this.#kept = { ...this.#kept, tally: closeTurn(this.#kept.tally) };
  }

  get tokens(): number {
    return countTokens(totalUsage(this.#kept.tally));
  }

  get countedAt(): string | null {
    return this.#kept.countedAt;
  }

  turnEnded(): void {
    this.#kept = { ...this.#kept, turns: this.#kept.turns + 1 };
    this.#requests = 0;
  }

  /** Sets the number of requests in flight that the client has not counted. Each counts as the largest of the run. */
  setOpenRequests(requests: number): void {
    this.#requests = requests;
  }

  /** Takes the next report; undefined if nothing has changed since the last one. `isDue`: it must be recorded. */
  takeReport(isDue = false): UsageReport | undefined {
    const { turns, waiting, model, conversation, largest, measured } = this.#kept;
    // An agent without resumable conversations names none, but still uses tokens.
    const isUsed = this.tokens > 0 || (measured !== null && measured.input + measured.output + measured.cached > 0);
    if (turns === 0 && conversation === null && !isUsed && this.#reserved.output === 0) return undefined;
    const { input, output, cacheRead, cacheWrite, costMillicents } = totalUsage(this.#kept.tally);
    // If the client names no prices at all, Baton prices everything.
    const lasting = costMillicents === null ? NOTHING_USED : this.#kept.tally.unpriced;
    const open = addUsage(openTurnUsage(this.#kept.tally), lasting);
    const used: UsageReport = {
      kind: 'used',
      conversation_id: conversation,
      model,
      // Writing to a cache costs at least as much as other input.
      input_tokens: input + cacheWrite,
      output_tokens: output,
      cached_tokens: cacheRead,
      cost_millicents: costMillicents,
      turns,
      waiting_tokens: waiting,
      open_input_tokens: open.input + open.cacheWrite,
      open_output_tokens: open.output,
      open_cached_tokens: open.cacheRead,
      unpriced_tokens: countTokens(lasting),
      reserved_input_tokens: (largest.input + largest.cacheWrite) * this.#requests,
      reserved_output_tokens: largest.output * this.#requests,
      reserved_cached_tokens: largest.cacheRead * this.#requests,
      ...(measured === null ? {} : describeMeasured(measured, this.#reserved, this.tokens)),
    };
    const text = JSON.stringify(used);
    if (text === this.#reported && !(isDue && this.#isUnsettled)) return undefined;
    this.#reported = text;
    this.#isUnsettled = !isDue;
    this.#keep();
    return isDue ? { ...used, is_due: true } : used;
  }

  /** Writes the file. On a full disk the usage is still reported, and the next report writes the file again. */
  #keep(): void {
    try {
      writeFileAtomically(this.#path, JSON.stringify(this.#kept));
    } catch (error) {
      if (!isShortOfResources(error)) throw error;
    }
  }
}

/** Replaces the client's figures. The client's price is not used either, because it may be as wrong. */
function describeMeasured(
  { model, input, output, cached, waiting }: MeasuredUsage,
  reserved: Pick<TokenUse, 'input' | 'output'>,
  client_tokens: number,
): Partial<UsageReport> {
  return {
    model,
    input_tokens: input,
    output_tokens: output,
    cached_tokens: cached,
    cost_millicents: null,
    waiting_tokens: waiting,
    open_input_tokens: 0,
    open_output_tokens: 0,
    open_cached_tokens: 0,
    unpriced_tokens: 0,
    reserved_input_tokens: reserved.input,
    reserved_output_tokens: reserved.output,
    reserved_cached_tokens: 0,
    client_tokens,
  };
}

function growth(before: TokenUsage, after: TokenUsage): TokenUse {
  const grown = (name: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): number =>
    Math.max(0, after[name] - before[name]);
  return {
    model: null,
    input: grown('input') + grown('cacheWrite'),
    output: grown('output'),
    cached: grown('cacheRead'),
  };
}

function larger(a: TokenUsage, b: TokenUsage | undefined): TokenUsage {
  return b !== undefined && countTokens(b) > countTokens(a) ? { ...b, costMillicents: null } : a;
}

function read(path: string): StoredUsage {
  const kept: StoredUsage = { ...NOTHING, ...fieldsInJson(readFileIfPresent(path)) };
  return { ...kept, tally: { ...EMPTY_TALLY, ...kept.tally } };
}

/** Usage of a client in a user's terminal, read from its own records, because its output is not visible to Baton. */
export class TerminalUsage {
  readonly #launch: Launch;
  readonly #began = Date.now();
  readonly #since: string;
  #known: TokenUsage = NOTHING_USED;

  /** Usage before `since` has been counted, except for a turn that the user interrupted. */
  constructor(launch: Launch, since: string) {
    this.#launch = launch;
    this.#since = since;
  }

  readNewUsage(conversation: string | null): UsageEvent | undefined {
    const { output } = this.#launch;
    if (output === 'text' || conversation === null) return undefined;
    const folder = recordsOf(this.#launch);
    const event = STREAMS[output].readTranscript({ conversation, since: this.#since, folder });
    if (event === undefined || event.of === 'conversation') return event;
    const before = this.#known;
    this.#known = event.usage;
    return { ...event, usage: minus(event.usage, before) };
  }

  findConversation(): string | null {
    const { output, cwd } = this.#launch;
    if (output === 'text') return null;
    return STREAMS[output].findConversation({ since: this.#began, cwd, folder: recordsOf(this.#launch) });
  }
}

function minus(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: Math.max(0, a.input - b.input),
    output: Math.max(0, a.output - b.output),
    cacheRead: Math.max(0, a.cacheRead - b.cacheRead),
    cacheWrite: Math.max(0, a.cacheWrite - b.cacheWrite),
    costMillicents: null,
  };
}
