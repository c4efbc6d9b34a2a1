import type { Answer } from '../../api/answer.ts';
import { decideStop, MAX_BLOCKS, type StopAttempt } from '../../protocol/decide-stop.ts';
import { parseStopHookInput, type StopHookOutput } from '../../protocol/stop-hook.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import type { Standing } from '../../protocol/standing.ts';
import type { HookConfig } from '../contract.ts';
import { isStanding } from '../control.ts';

export interface StopGuardOptions {
  readonly agentId: string;
  readonly config: HookConfig;
  readonly owes: readonly string[];
  readonly usesTools: boolean;
  readonly hasKeptSignal: () => boolean;
  readonly report: (report: AgentReport) => Promise<Answer>;
  /** Sends a printed exit signal. Resolves to a sentence for the agent if the signal was refused or did not count. */
  readonly settlePrinted: (lastWords: string | undefined) => Promise<string | undefined>;
  readonly askStanding: () => Promise<Answer>;
  readonly readHead: () => string | undefined;
}

export class StopGuard {
  readonly #options: StopGuardOptions;
  #standing: Standing;
  /** Consecutive blocks since the agent last made progress. */
  #blocks = 0;
  /** Blocks since the last message, as `stop_hook_active` should report. */
  #blocksInTurn = 0;
  /** All blocks of the run, over all its processes. */
  #totalBlocks: number;
  #head: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Whether the agent made a call that only the daemon inspected. */
  #isUnsure = false;
  /** Times of the last accepted standing, the last reply and the last failed request. */
  #standingMs = -Infinity;
  #replyMs = -Infinity;
  #failureMs = -Infinity;
  #signals = 0;
  /** Whether the agent was allowed to stop without a signal. */
  wasLetGo = false;
  /** Whether the last stop was allowed, so that the agent may exit when its turn ends. */
  mayLeave = false;

  constructor(options: StopGuardOptions) {
    this.#options = options;
    this.#totalBlocks = options.config.blocks_before ?? 0;
    const has_signalled = options.hasKeptSignal();
    this.#standing = { has_signalled, is_owned: true, is_parked: false, missing: options.owes };
    if (options.config.attempts !== undefined) this.#head = options.readHead();
  }

  get hasSignalled(): boolean {
    return this.#standing.has_signalled;
  }

  get isParked(): boolean {
    return this.#standing.is_parked;
  }

  get isOwned(): boolean {
    return this.#standing.is_owned;
  }

  /** Whether the agent waits for a budget, so that no tool may run. */
  get isHeld(): boolean {
    return this.#standing.is_held === true && this.isOwned;
  }

  /** Accepts the daemon's view. A signal that still waits in the outbox counts too. */
  setStanding(standing: Standing): void {
    this.#acceptStanding(standing, false);
  }

  /**
   * Accepts a standing unless a later one was accepted: pushed standings and answers arrive on several connections and
   * may overtake each other. After MAX_IN_FLIGHT_MS no old standing can be in flight, so any is accepted, even one
   * after an older ledger was restored.
   */
  #acceptStanding(standing: Standing, hasSignalled: boolean): void {
    const nowMs = performance.now();
    this.#replyMs = nowMs;
    const isOlder = (standing.at ?? Infinity) < (this.#standing.at ?? 0);
    if (isOlder && nowMs < this.#standingMs + MAX_IN_FLIGHT_MS) return;
    this.#standingMs = nowMs;
    const has_signalled = standing.has_signalled || hasSignalled || this.#options.hasKeptSignal();
    this.#standing = { ...standing, has_signalled };
  }

  /** Clears the parked state if it applied only until the agent was active again, and the daemon does not answer. */
  unpark(): void {
    this.#standing = { ...this.#standing, is_parked: false };
  }

  onSignal(): void {
    this.#signals += 1;
    this.#standing = { ...this.#standing, has_signalled: true };
    this.wasLetGo = false;
  }

  /**
   * Records a call that only the daemon saw. It may have been a signal, so the daemon is asked before the next block.
   */
  onUnseenCall(): void {
    this.#isUnsure = true;
  }

  onProgress(): void {
    this.#blocks = 0;
  }

  /** Revokes an earlier permission to stop, because the agent has a new message. */
  onMessageDelivered(): void {
    this.#blocksInTurn = 0;
    this.wasLetGo = false;
    this.mayLeave = false;
  }

  /** Decides one stop at a time, because each changes the state for the next. */
  async stop(input: Uint8Array): Promise<StopHookOutput> {
    const answer = this.#turn.then(async () => this.#decide(input));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #decide(body: Uint8Array): Promise<StopHookOutput> {
    const parsed = parseStopHookInput(body);
    const input = parsed.ok ? parsed.value : {};
    const refused = await this.#options.settlePrinted(input.last_assistant_message);
    // An agent that the daemon does not own may stop, whatever `on_stop` is. The last known standing may be old, so it
    // is read again.
    if (!this.hasSignalled) await (this.#isUnsure ? this.refreshStanding() : this.refreshStandingIfReachable());
    this.#isUnsure = false;
    if (this.#hasCommitted()) this.onProgress();
    const attempt = this.#attempt(input.stop_hook_active === true);
    const { output, records } = decideStop(attempt);
    this.mayLeave = output.decision === 'allow';
    if (output.decision === 'allow') {
      this.wasLetGo = !attempt.hasSignalled && attempt.isOwned && !attempt.isParked;
      return output;
    }
    if (records === 'idle') await this.report({ kind: 'idle', why: 'stop' });
    if (records === 'stop') await this.#escalate();
    this.#countBlock();
    if (refused === undefined || records !== null) return output;
    return { ...output, reason: `${output.reason}\n${refused}` };
  }

  /** Counts a block. The agent does not wait for the record of it: reports are sent in order, before the exit. */
  #countBlock(): void {
    this.#blocks += 1;
    this.#blocksInTurn += 1;
    this.#totalBlocks += 1;
    void this.report({ kind: 'blocked', blocks: this.#totalBlocks });
  }

  /** Calls a person once. The agent may then stop, even if the daemon has not recorded the call yet. */
  async #escalate(): Promise<void> {
    const answer = await this.report({ kind: 'stop' });
    const isKept = answer.ok ? !isStanding(standingIn(answer.result)) : answer.error.code === 'kept';
    if (isKept) this.#standing = { ...this.#standing, is_parked: true };
  }

  /** Asks the daemon for the standing. Changes nothing if there is no answer. */
  async refreshStanding(): Promise<void> {
    await this.#acceptFromAnswer(
      async () => this.#options.askStanding(),
      (result) => result,
    );
  }

  /** Like `refreshStanding`, for frequent events: skipped for a while after the daemon did not answer. */
  async refreshStandingIfReachable(): Promise<void> {
    const isAway = this.#failureMs > this.#replyMs && performance.now() < this.#failureMs + AWAY_MS;
    if (!isAway) await this.refreshStanding();
  }

  /** Sends a report. The answer has the standing after it, by which the agent's next stop is decided. */
  async report(report: AgentReport): Promise<Answer> {
    return this.#acceptFromAnswer(async () => this.#options.report(report), standingIn);
  }

  /**
   * Accepts an answer's standing. A signal sent while the answer was in flight counts; the daemon knows of earlier
   * ones.
   */
  async #acceptFromAnswer(ask: () => Promise<Answer>, find: (result: unknown) => unknown): Promise<Answer> {
    const [signals, beganMs] = [this.#signals, performance.now()];
    const answer = await ask();
    const standing = answer.ok ? find(answer.result) : undefined;
    if (isStanding(standing)) this.#acceptStanding(standing, signals !== this.#signals);
    if (!answer.ok && this.#replyMs < beganMs) this.#failureMs = performance.now();
    return answer;
  }

  #attempt(isHookActive: boolean): StopAttempt {
    const { agentId, config, usesTools } = this.#options;
    const { has_signalled, is_owned, is_parked, missing, blocks = 0 } = this.#standing;
    this.#totalBlocks = Math.max(this.#totalBlocks, blocks);
    return {
      agentId,
      onStop: config.on_stop,
      attempts: config.attempts,
      isHookActive: config.ignores_flag === true ? this.#blocksInTurn > 0 : isHookActive,
      blocks: this.#blocks,
      totalBlocks: this.#totalBlocks,
      maxBlocks: config.max_blocks ?? MAX_BLOCKS,
      hasSignalled: has_signalled,
      isOwned: is_owned,
      isParked: is_parked,
      missing,
      usesTools,
    };
  }

  #hasCommitted(): boolean {
    if (this.#options.config.attempts === undefined) return false;
    const head = this.#options.readHead();
    const isNew = head !== this.#head;
    this.#head = head;
    return isNew;
  }
}

/** For this time the daemon is not asked again after it did not answer, unless it sends a message itself. */
const AWAY_MS = 30_000;
/** Longer than any message can be in flight. */
const MAX_IN_FLIGHT_MS = 15_000;

function standingIn(result: unknown): unknown {
  return Object(result).standing;
}
