import type { Answer } from '../../api/answer.ts';
import { parseStopHookInput } from '../../protocol/stop-hook.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import type { Launch } from '../contract.ts';
import type { MessageQueue } from '../message-queue.ts';
import { parseRecordHint } from '../stream/printed-signals.ts';
import type { SilenceReporter } from '../stream/silence.ts';
import type { StreamMonitor } from '../stream/stream-monitor.ts';
import { drainOutput } from '../timers.ts';
import { type BudgetHold, denyTool } from './budget-hold.ts';
import { parseHook } from './read-hook.ts';
import type { StopGuard } from './stop-guard.ts';

export interface HookHandlerOptions {
  readonly launch: Launch;
  readonly guard: StopGuard;
  readonly budgetHold: BudgetHold;
  readonly silence: SilenceReporter;
  readonly stream: StreamMonitor;
  readonly messages: MessageQueue;
  readonly pending: PendingWork;
  readonly report: (report: AgentReport) => Promise<Answer>;
  /** Sends a signal that the agent printed. Resolves to a sentence for the agent if it was refused. */
  readonly settlePrinted: (lastWords: string | undefined) => Promise<string | undefined>;
  readonly endProcess: () => Promise<void>;
}

export class HookHandler {
  readonly #options: HookHandlerOptions;

  constructor(options: HookHandlerOptions) {
    this.#options = options;
  }

  async answer(name: string, body: Buffer): Promise<object> {
    const { launch, guard, stream, pending, report } = this.#options;
    if (launch.terminal === true) return pending.track(this.#inTerminal(name, body));
    if (name === 'stop') return pending.track(this.#stop(body));
    if (name === 'pre-tool-use') return pending.track(this.#beforeTool(body));
    if (name === 'permission-request') return this.#askPermission(body);
    const event = parseHook(name, body);
    if (event.kind === 'progress') guard.onProgress();
    if (event.kind === 'report') await pending.track(report(event.report));
    if (event.kind === 'failure') await pending.track(stream.hookFailed(event.report, event.isSure));
    return {};
  }

  /** With a person at the terminal every stop is allowed, and no question is forwarded. Signals count as always. */
  async #inTerminal(name: string, body: Buffer): Promise<object> {
    if (name !== 'stop') return {};
    const { pending, settlePrinted, stream } = this.#options;
    const input = parseStopHookInput(body);
    const { last_assistant_message, session_id } = input.ok ? input.value : {};
    await settlePrinted(last_assistant_message);
    // The client need not wait for this.
    void pending.track(stream.terminalTurnEnded(session_id));
    return {};
  }

  /** Usage decides whether the agent may continue, also that of other agents: a report of it may still be in flight. */
  async #beforeTool(body: Buffer): Promise<object> {
    const { launch, guard, budgetHold, stream, endProcess } = this.#options;
    budgetHold.turnBegins();
    await drainOutput();
    if (!(await stream.beforeTool(parseRecordHint(body)))) await guard.refreshStandingIfReachable();
    budgetHold.update();
    if (await budgetHold.holdTool()) return {};
    const { answer, endsProcess } = denyTool(launch.output);
    if (endsProcess) await endProcess();
    return answer;
  }

  /** Over HTTP an empty object allows the stop: clients treat a response that is not JSON as a broken hook. */
  async #stop(body: Buffer): Promise<object> {
    const { launch, guard, budgetHold, silence, stream, messages } = this.#options;
    const reason = messages.takeMessagesAtStop();
    if (reason !== undefined) return { decision: 'block', reason };
    // The usage so far decides whether the agent may continue.
    await drainOutput();
    await stream.beforeStop(parseRecordHint(body));
    // An agent parked only for its silence is active again.
    await silence.untilReported();
    const output = await guard.stop(body);
    budgetHold.update();
    const isAllowed = output.decision === 'allow';
    messages.stopAnswered(isAllowed);
    if (isAllowed && launch.output === 'text') silence.turnEnded();
    return isAllowed ? {} : output;
  }

  /** Held until a person has decided; the client waits as long as that takes. */
  async #askPermission(body: Buffer): Promise<object> {
    const { budgetHold, messages, pending, report } = this.#options;
    // An agent that waits for a budget asks no other question.
    const refusal = await pending.track(budgetHold.holdQuestion());
    if (refusal !== undefined) return refusal;
    const event = parseHook('permission-request', body);
    const answered = messages.askPermission();
    if (event.kind === 'report') await pending.track(report(event.report));
    return answered;
  }
}

/** Work that must be finished before the supervisor exits. */
export class PendingWork {
  readonly #work = new Set<Promise<unknown>>();

  async track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    try {
      return await work;
    } finally {
      this.#work.delete(work);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#work);
  }
}
