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
  /** A signal of its own lies in the outbox. */
  readonly hasKeptSignal: () => boolean;
  /** Tells the daemon, or the outbox; resolves when it is on record. */
  readonly report: (report: AgentReport) => Promise<Answer>;
  /** Sends an exit signal that the agent printed in this turn. Resolves to a sentence for the agent if it was refused or did not count. */
  readonly settlePrinted: (lastWords: string | undefined) => Promise<string | undefined>;
  /** Asks the daemon how the agent stands. */
  readonly askStanding: () => Promise<Answer>;
  /** The commit that the agent works on. */
  readonly readHead: () => string | undefined;
}

/** What this agent's stops have come to: counts blocks, knows whether it has signalled, and answers its stop hook. */
export class StopGuard {
  readonly #options: StopGuardOptions;
  #standing: Standing;
  /** Blocks in a row, since the agent last made progress. */
  #blocks = 0;
  /** Blocks since the agent was last sent a message: what `stop_hook_active` should say. */
  #blocksInTurn = 0;
  /** All blocks of the run, over all its processes. */
  #totalBlocks: number;
  #head: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Something was said that only the daemon has looked into. */
  #isUnsure = false;
  /** When it was last heard how the agent stands; when the daemon was last heard at all, and when it was last asked in vain. */
  #standingMs = -Infinity;
  #replyMs = -Infinity;
  #failureMs = -Infinity;
  /** How often the agent has signalled as far as we have seen it. */
  #signals = 0;
  /** It was let go although it has not signalled. */
  wasLetGo = false;
  /** The last stop was allowed: when the turn ends, the agent may leave. */
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

  /** Somebody waits for it. */
  get isOwned(): boolean {
    return this.#standing.is_owned;
  }

  /** It waits for a budget: no tool is used until it may go on. */
  get isHeld(): boolean {
    return this.#standing.is_held === true && this.isOwned;
  }

  /** The daemon's view; a signal that it has not heard yet, because it lies in the outbox, counts all the same. */
  setStanding(standing: Standing): void {
    this.#acceptStanding(standing, false);
  }

  /**
   * What the daemon says by itself, and what it answers, come on several ways, and may overtake each other: then the later one counts. For
   * longer than an answer may take nothing is under way, and what comes then is news, also after an older ledger was put back.
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

  /** It was parked only until it was heard again, and the daemon does not answer. */
  unpark(): void {
    this.#standing = { ...this.#standing, is_parked: false };
  }

  onSignal(): void {
    this.#signals += 1;
    this.#standing = { ...this.#standing, has_signalled: true };
    this.wasLetGo = false;
  }

  /** It may have signalled in a way that we do not see: the daemon is asked before it is told that it has not. */
  onUnseenCall(): void {
    this.#isUnsure = true;
  }

  /** A tool call, a commit: the agent is not going round in circles. */
  onProgress(): void {
    this.#blocks = 0;
  }

  /** The agent was sent a message: what it was let go for is over. */
  onMessageDelivered(): void {
    this.#blocksInTurn = 0;
    this.wasLetGo = false;
    this.mayLeave = false;
  }

  /** One stop at a time: the second of two sees what the first has changed. */
  async stop(input: Uint8Array): Promise<StopHookOutput> {
    const answer = this.#turn.then(async () => this.#decide(input));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  async #decide(input: Uint8Array): Promise<StopHookOutput> {
    const parsed = parseStopHookInput(input);
    const said = parsed.ok ? parsed.value : {};
    const refused = await this.#options.settlePrinted(said.last_assistant_message);
    // An agent that the daemon does not own is let go, whatever `on_stop` says: what was last heard of it may be old.
    if (!this.hasSignalled) await (this.#isUnsure ? this.refreshStanding() : this.refreshStandingIfReachable());
    this.#isUnsure = false;
    if (this.#hasCommitted()) this.onProgress();
    const attempt = this.#attempt(said.stop_hook_active === true);
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

  /** The agent need not wait until its block is on record: the reports of a supervisor are sent in order, and its exit comes after them. */
  #countBlock(): void {
    this.#blocks += 1;
    this.#blocksInTurn += 1;
    this.#totalBlocks += 1;
    void this.report({ kind: 'blocked', blocks: this.#totalBlocks });
  }

  /** A person is called once. From then on the agent may rest until they answer, also where the daemon has yet to hear of it. */
  async #escalate(): Promise<void> {
    const answer = await this.report({ kind: 'stop' });
    const isKept = answer.ok ? !isStanding(standingIn(answer.result)) : answer.error.code === 'kept';
    if (isKept) this.#standing = { ...this.#standing, is_parked: true };
  }

  /** Asks the daemon how the agent stands; nothing changes where it does not answer. */
  async refreshStanding(): Promise<void> {
    await this.#acceptFromAnswer(
      async () => this.#options.askStanding(),
      (result) => result,
    );
  }

  /** The same at every step of its work, where nobody waits again and again for a daemon that is away. */
  async refreshStandingIfReachable(): Promise<void> {
    const isAway = this.#failureMs > this.#replyMs && performance.now() < this.#failureMs + AWAY_MS;
    if (!isAway) await this.refreshStanding();
  }

  /**
   * The daemon answers with how the agent stands after what followed from the report, so that its next stop, which may come at once, is
   * judged by that.
   */
  async report(report: AgentReport): Promise<Answer> {
    return this.#acceptFromAnswer(async () => this.#options.report(report), standingIn);
  }

  /** A signal that was given while the answer was under way counts all the same; of one before that the daemon knows. */
  async #acceptFromAnswer(ask: () => Promise<Answer>, find: (result: unknown) => unknown): Promise<Answer> {
    const [signals, beganMs] = [this.#signals, performance.now()];
    const answer = await ask();
    const standing = answer.ok ? find(answer.result) : undefined;
    if (isStanding(standing)) this.#acceptStanding(standing, signals !== this.#signals);
    if (!answer.ok && this.#replyMs < beganMs) this.#failureMs = performance.now();
    return answer;
  }

  #attempt(isHookActive: boolean): StopAttempt {
    const { agentId, config } = this.#options;
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
    };
  }

  /** Looked at only where blocks are counted. */
  #hasCommitted(): boolean {
    if (this.#options.config.attempts === undefined) return false;
    const head = this.#options.readHead();
    const isNew = head !== this.#head;
    this.#head = head;
    return isNew;
  }
}

/** A daemon that did not answer is left alone for so long, unless it says something by itself: a new one does. */
const AWAY_MS = 30_000;

/** Longer than anything that is said may be under way. */
const MAX_IN_FLIGHT_MS = 15_000;

/** In the answer to a report. */
function standingIn(result: unknown): unknown {
  return Object(result).standing;
}
