import type { StopReason } from '../../acp/messages.ts';
import { textBlock } from '../../acp/messages.ts';
import type { ApiError } from '../../api/answer.ts';
import type { ProjectCalls } from '../../api/client/signed-client.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import { isOver } from '../../protocol/phase.ts';
import type { WorkflowMode } from '../../protocol/run-plan.ts';
import { ISSUE_WORKFLOW } from '../../runbook/runbook.ts';
import type { Editor } from './editor.ts';
import { type EditorCommand, parsePrompt } from './parse-prompt.ts';
import { toRpcError } from './rpc-errors.ts';
import { createSource, type RunSource, type StartedRun } from './run-source.ts';
import { createTask, noteTask, requireHeadSeq, requireTask, showStatus } from './session-actions.ts';
import type { SavedSession, SessionFiles } from './session-file.ts';
import { startRun } from './start-run.ts';
import { type OwedAnswer, watchRun } from './watch-run.ts';

export interface SessionOptions {
  readonly id: string;
  /** The root of the repository. */
  readonly root: string;
  readonly client: ProjectCalls;
  readonly editor: Editor;
  readonly files: SessionFiles;
  readonly stateDir: string;
  /** Starts the daemon if none runs. Throws if that fails. */
  readonly reach: () => Promise<void>;
  /** Aborts when the editor disconnects. */
  readonly closed: AbortSignal;
}

/** One conversation of an editor. It follows the run that it started last. */
export class EditorSession {
  readonly #options: SessionOptions;
  mode: WorkflowMode;
  #run: StartedRun | undefined;
  /** Whether this session started the run. A run that it only follows is not cancelled with the turn. */
  #isOwn = false;
  #turn: AbortController | undefined;
  #background: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #owed: OwedAnswer | undefined;

  constructor(options: SessionOptions, mode: WorkflowMode) {
    this.#options = options;
    this.mode = mode;
  }

  cancel(): void {
    this.#turn?.abort();
  }

  async prompt(prompt: unknown, signal: AbortSignal): Promise<StopReason> {
    const parsed = parsePrompt(prompt);
    if (!parsed.ok) throw toRpcError(parsed.error);
    if (this.#turn !== undefined) {
      if (parsed.command.kind === 'status') await showStatus(this.#options);
      else await this.#noteDuringTurn(parsed.text, parsed.isPlain);
      return 'end_turn';
    }
    const turn = new AbortController();
    this.#turn = turn;
    // An editor that disconnects has not cancelled anything.
    const cancel = (): void => void (this.#options.closed.aborted || turn.abort());
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await this.#stopBackground();
      await this.#options.reach();
      if (turn.signal.aborted) return 'cancelled';
      const stopped = parsed.isPlain ? await this.#continue(parsed.text, turn.signal) : undefined;
      return stopped ?? (await this.#execute(parsed.command, turn.signal));
    } finally {
      this.#turn = undefined;
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Shows the state of the run and follows it without a turn. */
  async load({ run, title }: SavedSession): Promise<void> {
    const { client, editor, closed } = this.#options;
    const after = await requireHeadSeq(this.#options);
    const seen = run.kind === 'workflow' ? await requireTask(run.id, this.#options) : undefined;
    const source = createSource(run, client, seen);
    const state = await source.read(closed);
    if (!state.ok) throw toRpcError(state.error);
    [this.#run, this.#isOwn] = [run, true];
    editor.update({ sessionUpdate: 'user_message_chunk', content: textBlock(title) });
    editor.showPlan(state.result.plan);
    for (const { agent: _, ...call } of state.result.calls) editor.showCall(call);
    const stop = new AbortController();
    // The editor must receive the response to its request first.
    const done = new Promise((resolve) => setImmediate(resolve)).then(async () =>
      this.#followLoaded(source, after, stop),
    );
    this.#background = { stop, done };
  }

  async #followLoaded(source: RunSource, after: number, stop: AbortController): Promise<void> {
    const end = await this.#watch(source, after, stop.signal);
    if (end.kind === 'refused') this.#options.editor.say(`${end.error.message}. ${end.error.hint}`);
  }

  async #stopBackground(): Promise<void> {
    this.#background?.stop.abort();
    await this.#background?.done;
    this.#background = undefined;
  }

  /**
   * Handles a prompt without a command: it completes a pending answer, or is a note to the session's run. Undefined if
   * it is a new request.
   */
  async #continue(text: string, signal: AbortSignal): Promise<StopReason | undefined> {
    const run = this.#run;
    const owed = this.#owed;
    this.#owed = undefined;
    if (run === undefined) return undefined;
    const after = await requireHeadSeq(this.#options);
    if (owed !== undefined) await this.#completeAnswer(owed, text);
    else if (run.kind !== 'workflow' || isOver((await requireTask(run.id, this.#options)).activity)) return undefined;
    else await noteTask(run.id, text, this.#options);
    return this.#follow(run, after, signal);
  }

  async #completeAnswer(owed: OwedAnswer, text: string): Promise<void> {
    const { decisionId: id, option, missing } = owed;
    const given = missing === 'note' ? { message: text } : { agent: text };
    const answer = await this.#options.client.call('decision_resolve', { id, option, ...given });
    if (answer.ok) return;
    // The next prompt can name another agent.
    if (CORRECTABLE.has(answer.error.code)) this.#owed = owed;
    throw toRpcError(answer.error);
  }

  async #execute(command: EditorCommand, signal: AbortSignal): Promise<StopReason> {
    switch (command.kind) {
      case 'status':
        await showStatus(this.#options);
        return 'end_turn';
      case 'task':
        await createTask(command, this.#options);
        return 'end_turn';
      case 'follow':
        return this.#followNamed(command.id, signal);
      case 'run':
        return this.#start({ name: command.name, args: command.args }, `/run ${command.name}`, signal);
      case 'issue': {
        const { title, description } = command;
        const args = ['--mode', this.mode, '--', title];
        const more = description === '' ? {} : { description };
        return this.#start({ name: ISSUE_WORKFLOW, args, ...more }, title, signal);
      }
    }
  }

  async #start(input: InputOf<'run_start'>, title: string, signal: AbortSignal): Promise<StopReason> {
    const { client, editor, files, id, root } = this.#options;
    // Read before the start, so that no entry of the run is missed.
    const after = await requireHeadSeq(this.#options);
    const answer = await startRun(input, { client, editor, signal });
    if (!answer.ok && signal.aborted) return 'cancelled';
    if (!answer.ok) throw toRpcError(answer.error);
    const { kind, id: runId, ids = [runId], rules } = answer.result;
    if (rules !== undefined) editor.say(`New rules are in force: ${rules.text}`);
    if (ids.length > 1) editor.say(`Started ${ids.join(', ')}. This editor session follows ${runId}.`);
    const run = { kind, id: runId };
    [this.#run, this.#isOwn] = [run, true];
    files.save({ id, cwd: root, title, run, updatedAt: new Date().toISOString() });
    return this.#follow(run, after, signal, true);
  }

  async #followNamed(named: string | undefined, signal: AbortSignal): Promise<StopReason> {
    const id = named ?? this.#run?.id;
    if (id === undefined) throw toRpcError(NOTHING_TO_FOLLOW);
    const after = await requireHeadSeq(this.#options);
    const run = id === this.#run?.id ? this.#run : ({ kind: 'workflow', id } as const);
    // An unknown task must not change the session.
    if (run !== this.#run) await requireTask(id, this.#options);
    if (run !== this.#run) [this.#run, this.#isOwn] = [run, false];
    return this.#follow(run, after, signal);
  }

  async #follow(run: StartedRun, after: number, signal: AbortSignal, isNew = false): Promise<StopReason> {
    const seen = isNew || run.kind !== 'workflow' ? undefined : await requireTask(run.id, this.#options);
    const source = createSource(run, this.#options.client, seen);
    const end = await this.#watch(source, after, signal);
    if (signal.aborted) {
      if (end.kind !== 'over') await this.#cancelRun(source);
      return 'cancelled';
    }
    if (end.kind === 'refused') throw toRpcError(end.error);
    return 'end_turn';
  }

  async #watch(source: RunSource, after: number, signal: AbortSignal) {
    const { closed, editor } = this.#options;
    const end = await watchRun({ ...this.#options, source, after, signal: AbortSignal.any([signal, closed]) });
    if (signal.aborted) return end;
    if (end.kind === 'dismissed') editor.say(`${source.run.id} waits for an answer. To be asked again: /follow`);
    if (end.kind === 'owed') {
      this.#owed = end.owed;
      const what = end.owed.missing === 'note' ? 'the note' : 'the name of the agent';
      editor.say(`Write ${what} as your next message. The question stays open until then.`);
    }
    return end;
  }

  async #cancelRun({ run, cancel, cancelCommand }: RunSource): Promise<void> {
    const { editor } = this.#options;
    if (!this.#isOwn)
      return editor.say(
        `${run.id} continues, because this editor session did not start it. To cancel it: ${cancelCommand}`,
      );
    const answer = await cancel(CANCEL_REASON);
    if (answer.ok) editor.endCalls();
    if (answer.ok) return editor.say(`${run.id} is cancelled.`);
    const { message, hint } = answer.error;
    editor.say(`${run.id} is NOT cancelled: ${message}. ${hint} Then: ${cancelCommand}`);
  }

  async #noteDuringTurn(text: string, isPlain: boolean): Promise<void> {
    const run = this.#run;
    if (!isPlain || run?.kind !== 'workflow') throw toRpcError(BUSY);
    await noteTask(run.id, text, this.#options);
  }
}

const CORRECTABLE: ReadonlySet<string> = new Set([
  'no-note',
  'no-agent-named',
  'wrong-role',
  'separation-of-duties',
  // The runbook lacks the named agent.
  'bad-request',
]);

const CANCEL_REASON = 'cancelled in the editor';

const BUSY: ApiError = {
  code: 'acp/busy',
  message: 'this editor session follows a run, and can start nothing else until the run ends',
  hint: 'Use another editor session, or cancel the run. Text without a command is left as a note on the task.',
};

const NOTHING_TO_FOLLOW: ApiError = {
  code: 'acp/usage',
  message: 'this editor session has started no run',
  hint: 'Name the task: /follow ID. See the tasks: /status',
};
