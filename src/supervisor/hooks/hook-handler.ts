import { parseStopHookInput } from '../../protocol/stop-hook.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import type { Launch } from '../contract.ts';
import type { MessageQueue } from '../message-queue.ts';
import { parseRecordHint } from '../stream/printed-signals.ts';
import type { SilenceReporter } from '../stream/silence.ts';
import type { StreamMonitor } from '../stream/stream-monitor.ts';
import { drainOutput } from '../timers.ts';
import { type BudgetHold, denyTool } from './budget-hold.ts';
import { parseHook } from './read-hook.ts';
import type { StopGuard } from './stop-guard.ts';

interface HookedAgent {
  readonly launch: Launch;
  readonly guard: StopGuard;
  readonly budgetHold: BudgetHold;
  readonly silence: SilenceReporter;
  readonly stream: StreamMonitor;
  readonly messages: MessageQueue;
  readonly pending: PendingWork;
  report(report: AgentReport): Promise<unknown>;
  settlePrinted(lastWords: string | undefined): Promise<string | undefined>;
  end(): Promise<void>;
}

export async function answerHook(agent: HookedAgent, name: string, body: Buffer): Promise<object> {
  const { launch, guard, stream, pending } = agent;
  if (launch.terminal === true) return pending.track(answerInTerminal(agent, name, body));
  if (name === 'stop') return pending.track(answerStop(agent, body));
  if (name === 'pre-tool-use') return pending.track(answerBeforeTool(agent, body));
  if (name === 'permission-request') return askPermission(agent, body);
  const event = parseHook(name, body);
  if (event.kind === 'progress') guard.onProgress();
  if (event.kind === 'report') await pending.track(agent.report(event.report));
  if (event.kind === 'failure') await pending.track(stream.hookFailed(event.report, event.isSure));
  return {};
}

/**
 * Answers hooks of a client in a user's terminal: every stop is allowed, and no question is forwarded. Signals count as
 * always.
 */
async function answerInTerminal(agent: HookedAgent, name: string, body: Buffer): Promise<object> {
  if (name !== 'stop') return {};
  const input = parseStopHookInput(body);
  const { last_assistant_message, session_id } = input.ok ? input.value : {};
  await agent.settlePrinted(last_assistant_message);
  // The client does not wait for this call.
  void agent.pending.track(agent.stream.terminalTurnEnded(session_id));
  return {};
}

/**
 * Answers the hook before a tool. Usage decides whether the agent may continue, including other agents' usage, and a
 * report of it may still be in flight.
 */
async function answerBeforeTool(agent: HookedAgent, body: Buffer): Promise<object> {
  const { launch, guard, budgetHold, stream } = agent;
  budgetHold.turnBegins();
  await drainOutput();
  if (!(await stream.beforeTool(parseRecordHint(body)))) await guard.refreshStandingIfReachable();
  budgetHold.update();
  // An ACP agent's tool may be running already; its turn is then ended at once instead.
  const isRunning = fieldsInJson(body.toString('utf8'))['is_running'] === true;
  if (isRunning ? budgetHold.checkRunningTool() : await budgetHold.holdTool()) return {};
  const { answer, endsProcess } = denyTool(launch.output);
  // A client with one turn per process exits now, so a message that raises the budget goes to the next process.
  agent.messages.turnEnded();
  if (endsProcess) await agent.end();
  return answer;
}

/**
 * Answers the stop hook. Over HTTP an empty object allows the stop, because clients treat a response that is not JSON
 * as a broken hook.
 */
async function answerStop({ launch, guard, budgetHold, silence, stream, messages }: HookedAgent, body: Buffer) {
  const reason = messages.takeMessagesAtStop();
  if (reason !== undefined) return { decision: 'block', reason };
  await drainOutput();
  await stream.beforeStop(parseRecordHint(body));
  // If the agent was parked only for its silence, it is active again.
  await silence.untilReported();
  const output = await guard.stop(body);
  budgetHold.update();
  const isAllowed = output.decision === 'allow';
  messages.stopAnswered(isAllowed);
  if (isAllowed && launch.output === 'text') silence.turnEnded();
  return isAllowed ? {} : output;
}

/** Holds a permission question until a person has decided; the client waits that long. */
async function askPermission(agent: HookedAgent, body: Buffer): Promise<object> {
  const { budgetHold, messages, pending } = agent;
  // An agent that waits for a budget asks no other questions.
  const refusal = await pending.track(budgetHold.holdQuestion());
  if (refusal !== undefined) {
    messages.turnEnded();
    return refusal;
  }
  const event = parseHook('permission-request', body);
  return messages.permissions.ask(async () => {
    if (event.kind === 'report') await pending.track(agent.report(event.report));
  });
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
