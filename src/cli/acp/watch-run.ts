import { isGone, RPC, RpcError } from '../../acp/connection.ts';
import type { ToolContent } from '../../acp/messages.ts';
import type { ApiError } from '../../api/answer.ts';
import { delay } from '../../api/client/http.ts';
import type { ProjectCalls } from '../../api/client/signed-client.ts';
import type { DecisionView } from '../../api/run-views.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import { AgentLine } from '../run/agent-line.ts';
import { followView } from '../run/follow-view.ts';
import { describeFault } from '../status/render-status.ts';
import type { Editor } from './editor.ts';
import { diffContent } from './patch-diff.ts';
import { fencedText } from './plain-text.ts';
import {
  decisionCall,
  decisionCallId,
  describeSettled,
  findMissing,
  type Missing,
  permissionOptions,
} from './permission.ts';
import type { RunSource, RunState } from './run-source.ts';
import type { StageCall } from './stage-calls.ts';

/** A pending answer, which the next prompt completes. */
export interface OwedAnswer {
  readonly decisionId: string;
  readonly option: number;
  readonly missing: Missing;
}

export type WatchEnd =
  | { readonly kind: 'over' }
  | { readonly kind: 'owed'; readonly owed: OwedAnswer }
  /** The user closed a question without an answer. */
  | { readonly kind: 'dismissed' }
  | { readonly kind: 'refused'; readonly error: ApiError }
  /** `signal` aborted. */
  | { readonly kind: 'left' };

export interface WatchOptions {
  readonly source: RunSource;
  readonly client: ProjectCalls;
  readonly editor: Editor;
  /** The root of the repository, for paths in diffs. */
  readonly root: string;
  /** The state folder, to read logs of agents. */
  readonly stateDir: string;
  /** Entries after this one are reported. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/**
 * Shows a run in the editor, and asks its questions there, until it is over. While the daemon is unavailable, the
 * editor shows that and waits.
 */
export async function watchRun(options: WatchOptions): Promise<WatchEnd> {
  const watch = new RunWatch(options);
  const signal = AbortSignal.any([options.signal, watch.ended]);
  await followView(options.client, { read: options.source.read, signal, after: options.after }, watch);
  return watch.close();
}

class RunWatch {
  readonly #options: WatchOptions;
  readonly #over = new AbortController();
  readonly #questions = new Map<string, AbortController>();
  /** The change of each tool call, read once. */
  readonly #changes = new Map<string, Promise<readonly ToolContent[]>>();
  #end: WatchEnd = { kind: 'left' };
  #line: AgentLine | undefined;
  #isAway = false;
  #seq = 0;
  #last: RunState | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#seq = options.after;
  }

  get ended(): AbortSignal {
    return this.#over.signal;
  }

  readonly onView = (state: RunState): void => {
    const { editor } = this.#options;
    if (this.#isAway) editor.say('The daemon answers again.');
    this.#isAway = false;
    editor.showPlan(state.plan);
    for (const call of state.calls) this.#showCall(call);
    this.#askAbout(state.decisions);
    // The same view a second time means that the stream has no further entries.
    const isRepeated = this.#last?.end !== undefined;
    this.#last = state;
    this.#finishIfOver(isRepeated);
  };

  readonly onAway = (why: ApiError): void => {
    if (why.code === 'bad-page-key' || why.code === 'no-such-project')
      return this.#finish({ kind: 'refused', error: why });
    if (!this.#isAway) this.#options.editor.say(`${describeFault(why)}. Updates continue when the daemon answers.`);
    this.#isAway = true;
  };

  readonly onEntry = (entry: Parameters<RunSource['describe']>[0]): void => {
    this.#seq = entry.seq;
    const line = this.#options.source.describe(entry);
    if (line !== undefined) this.#options.editor.say(line);
    this.#finishIfOver(false);
  };

  /** Closes open questions, and sends the remaining output. */
  async close(): Promise<WatchEnd> {
    for (const question of this.#questions.values()) question.abort();
    await Promise.allSettled(this.#changes.values());
    if (this.#end.kind === 'over') for (const line of this.#last?.end ?? []) this.#options.editor.say(line);
    return this.#end;
  }

  /** The final message must come after the entries that led to it. */
  #finishIfOver(isSure: boolean): void {
    if (this.#last?.end !== undefined && (isSure || this.#seq >= this.#last.seq)) this.#finish({ kind: 'over' });
  }

  #finish(end: WatchEnd): void {
    if (this.#over.signal.aborted) return;
    this.#end = end;
    this.#over.abort();
  }

  #showCall({ agent, ...call }: StageCall): void {
    const { editor } = this.#options;
    if (agent !== undefined && call.status === 'in_progress') {
      const line = this.#readLine(agent);
      return editor.showCall(line === undefined ? call : { ...call, content: [fencedText(line)] });
    }
    editor.showCall(call);
    if (agent === undefined || call.kind !== 'edit' || this.#changes.has(call.toolCallId)) return;
    const change = this.#readChange(agent.id);
    this.#changes.set(call.toolCallId, change);
    void change.then((content) => {
      if (content.length > 0) editor.showCall({ ...call, content: [...(call.content ?? []), ...content] });
    });
  }

  /** Returns the newest line of the agent's log, if the log is on this machine. */
  #readLine({ id, run }: NonNullable<StageCall['agent']>): string | undefined {
    if (this.#line?.agentId !== id) this.#line = new AgentLine(id, run, agentFiles(this.#options.stateDir, id).log);
    return this.#line.read();
  }

  /** Reads the whole change of the task or, with an agent, only that of its session. */
  async #readChange(agentId?: string): Promise<readonly ToolContent[]> {
    const { client, source, root } = this.#options;
    const input = { task_id: source.run.id, ...(agentId === undefined ? {} : { agent_id: agentId }) };
    const answer = await client.call('task_diff', input);
    return answer.ok ? diffContent(answer.result, root) : [];
  }

  #askAbout(decisions: readonly DecisionView[]): void {
    for (const decision of decisions) {
      const isOpen = decision.result === null && decision.answer === null;
      const question = this.#questions.get(decision.id);
      if (isOpen && question === undefined) void this.#ask(decision);
      if (isOpen || question === undefined || question.signal.aborted) continue;
      // The decision was answered elsewhere or withdrawn. If the answer is undone there, the question opens again.
      question.abort();
      this.#questions.delete(decision.id);
      this.#settle(decision);
    }
  }

  #settle(decision: DecisionView): void {
    const title = describeSettled(decision);
    this.#options.editor.showCall({ toolCallId: decisionCallId(decision.id), title, status: 'completed' });
    this.#options.editor.say(title);
  }

  async #ask(asked: DecisionView): Promise<void> {
    const { client, source, editor } = this.#options;
    const question = new AbortController();
    this.#questions.set(asked.id, question);
    const shown = await client.call('decision_show', { id: asked.id });
    if (!shown.ok) return this.#onRefused(asked, shown.error);
    const diffs = source.run.kind === 'workflow' && shown.result.evidence.diff !== null ? await this.#readChange() : [];
    if (question.signal.aborted) return;
    const call = decisionCall(shown.result, diffs);
    editor.showCall(call);
    const signal = AbortSignal.any([question.signal, this.#over.signal]);
    try {
      const outcome = await editor.ask(call, permissionOptions(asked), signal);
      // When a user cancels the turn, the editor closes its questions first.
      if (outcome.outcome === 'selected') await this.#answer(asked, Number(outcome.optionId));
      else await delay(CANCEL_MS).then(() => this.#finish({ kind: 'dismissed' }));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code !== RPC.cancelled && !isGone(error)) this.#finish({ kind: 'dismissed' });
    }
  }

  async #answer(asked: DecisionView, option: number): Promise<void> {
    const { client, editor } = this.#options;
    const chosen = asked.options.find(({ n }) => n === option);
    const missing = chosen === undefined ? undefined : findMissing(asked.source, chosen);
    if (missing !== undefined) return this.#finish({ kind: 'owed', owed: { decisionId: asked.id, option, missing } });
    // From now on, a view with the settled decision shows this answer.
    this.#questions.get(asked.id)?.abort();
    const answer = await client.call('decision_resolve', { id: asked.id, option });
    if (!answer.ok) return this.#onRefused(asked, answer.error);
    editor.showCall({
      toolCallId: decisionCallId(asked.id),
      title: `${asked.title}: ${chosen?.label ?? ''}`,
      status: 'completed',
    });
    const { next } = answer.result;
    if (next !== null) editor.say(`Begin: ${next}`);
  }

  #onRefused({ id }: DecisionView, error: ApiError): void {
    // The next view shows the earlier answer, or the question again.
    if (SETTLED.has(error.code) || LOST.has(error.code)) return void this.#questions.delete(id);
    if (error.code === 'bad-page-key') return this.#finish({ kind: 'refused', error });
    this.#options.editor.say(`The answer was refused: ${error.message}. ${error.hint}`);
    this.#options.editor.say(`Answer it later: baton decision show ${id.slice(0, 8)}`);
    this.#finish({ kind: 'dismissed' });
  }
}

const SETTLED: ReadonlySet<string> = new Set(['decision-resolved', 'decision-withdrawn', 'answer-pending']);
/** The daemon was unavailable, but it may have recorded the answer. */
const LOST: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'aborted', 'stopping']);
/** How long the cancellation of a turn may arrive after the answer to its question. */
const CANCEL_MS = 300;
