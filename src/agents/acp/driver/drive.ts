import { isGone, RPC, RpcError } from '../../../acp/connection.ts';
import { delay } from '../../../api/client/http.ts';
import { fieldsOf, type Fields, textOf } from '../../../protocol/shape/read-unknown.ts';
import { AgentProcess } from './agent-process.ts';
import { ClientMethods } from './client-methods.ts';
import { keepCost, readCost } from './cost-file.ts';
import { classifyError, findFailure, type PromptError, readRetry } from './errors.ts';
import { openSession, OpenError, type OpenedSession } from './open-session.ts';
import { answerPermission, QuestionQueue } from './permissions.ts';
import { printLine } from './print.ts';
import type { DriverSettings } from './settings.ts';
import { SupervisorHooks } from './supervisor-hooks.ts';
import { UpdateLog } from './updates.ts';
import { AgentUsage, findModel } from './usage.ts';

/** Why a turn ended. */
type TurnEnd =
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: PromptError }
  | { readonly kind: 'gone' };

/**
 * One run of an ACP agent. Each turn that ends is an attempt to stop. The supervisor answers; if it blocks the stop,
 * its reason is the next prompt in the same session. The agent has no hook that it could switch off.
 */
export class Drive {
  readonly #settings: DriverSettings;
  readonly #hooks = new SupervisorHooks(process.env);
  readonly #log = new UpdateLog(printLine, () => performance.now());
  readonly #usage: AgentUsage;
  readonly #methods: ClientMethods;
  readonly #agent: AgentProcess;
  /** Aborts when the turn is cancelled. Calls to the supervisor stop waiting then. */
  #turn = new AbortController();
  #session: OpenedSession | undefined;
  readonly #questions = new QuestionQueue();
  readonly #notes: string[] = [];
  #isHeld = false;
  /** Aborts when the supervisor ends the run. */
  readonly #ending = new AbortController();
  /** Invalid lines in a row. */
  #invalidLines = 0;
  #shownInvalid = 0;
  #isChecking = false;
  /** The kind of the last failed request to the model; null if the agent does not report it. */
  #lastKind: PromptError['error'] = null;

  constructor(settings: DriverSettings) {
    this.#settings = settings;
    this.#usage = new AgentUsage(settings.usage, readCost(OWN_FOLDER, settings.conversation));
    this.#methods = new ClientMethods(settings, process.cwd());
    this.#agent = new AgentProcess(settings.argv, {
      onRequest: async (method, params, signal) => this.#onRequest(method, params, signal),
      onNotification: (method, params) => this.#onNotification(method, params),
      onInvalid: (line) => this.#onInvalid(line),
    });
  }

  /** Resolves to the exit code of the driver. */
  async run(prompt: string): Promise<number> {
    try {
      this.#session = await this.#open();
      const { id, agent, version, model, resumable } = this.#session;
      printLine({ type: 'session', session_id: id, agent, version, model, resumable });
      return await this.#prompt(prompt);
    } catch (error) {
      return await this.#fail(error);
    } finally {
      this.#methods.end();
      await this.#agent.end();
    }
  }

  /** Called when the supervisor ends the run. Asks the agent to cancel its turn and gives it a moment to do so. */
  async cancel(): Promise<void> {
    if (this.#isEnding) return;
    const isInTurn = this.#session !== undefined && !this.#turn.signal.aborted;
    this.#cancelTurn();
    this.#ending.abort();
    if (isInTurn) await Promise.race([this.#agent.exited, delay(CANCEL_MS)]);
    this.#agent.rpc.close();
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async #open(): Promise<OpenedSession> {
    return openSession(this.#agent.rpc, this.#settings, {
      cwd: process.cwd(),
      env: process.env,
      capabilities: this.#methods.capabilities,
    });
  }

  /** Prompts until the supervisor lets the agent stop. */
  async #prompt(first: string): Promise<number> {
    for (let text = first; ;) {
      if (this.#isEnding) return EXIT_CANCELLED;
      const ended = await this.#runTurn(text);
      if (this.#isEnding) return EXIT_CANCELLED;
      if (ended.kind === 'gone') return await this.#reportGone();
      if (ended.kind === 'failed') return reportError(ended.error);
      if (this.#isHeld) return end();
      const next = await this.#nextPrompt();
      if (next === undefined) return end();
      text = next;
    }
  }

  async #runTurn(text: string): Promise<TurnEnd> {
    this.#turn = new AbortController();
    this.#log.onPrompt(text);
    const ended = await this.#request(text);
    this.#turn.abort();
    this.#log.onTurnEnd();
    const response = ended.kind === 'stopped' ? ended.response : {};
    const usage = this.#usage.onTurnEnd(response);
    keepCost(OWN_FOLDER, this.#session?.id ?? '', this.#usage.cost);
    const model = findModel(response);
    if (model !== undefined) printLine({ type: 'model', model });
    if (usage !== undefined) printLine({ type: 'usage', of: 'turn', usage });
    if (ended.kind !== 'stopped') return ended;
    const failure = findFailure(response);
    if (failure !== undefined) return { kind: 'failed', error: failure };
    const reason = textOf(ended.response['stopReason']) || 'end_turn';
    if (reason !== 'end_turn') printLine({ type: 'note', text: `the turn ended: ${reason.slice(0, 100)}` });
    return { kind: 'stopped', reason };
  }

  async #request(
    text: string,
  ): Promise<{ readonly kind: 'stopped'; readonly response: Fields } | Exclude<TurnEnd, { kind: 'stopped' }>> {
    try {
      const prompt = [{ type: 'text', text }];
      const asked = this.#agent.rpc.request('session/prompt', { sessionId: this.#session?.id, prompt });
      return { kind: 'stopped', response: fieldsOf(await Promise.race([asked, this.#cancelledLate()])) };
    } catch (error) {
      if (!(error instanceof RpcError) || isGone(error)) return { kind: 'gone' };
      return { kind: 'failed', error: this.#classify(error) };
    }
  }

  /** Resolves `CANCEL_MS` after a cancellation, for an agent that never answers it. */
  async #cancelledLate(): Promise<Fields> {
    const { signal } = this.#turn;
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
    await delay(CANCEL_MS);
    return { stopReason: 'cancelled' };
  }

  /**
   * Returns undefined if the agent may stop. Notes of a person come first, because ACP cannot send them with a denial.
   */
  async #nextPrompt(): Promise<string | undefined> {
    const notes = this.#notes.splice(0).join('\n\n');
    if (notes !== '') return notes;
    const body = { hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message: this.#log.lastWords };
    const answer = await this.#hooks.call('stop', body, this.#ending.signal);
    if (answer === undefined) throw new OpenError('the supervisor does not answer');
    return answer['decision'] === 'block' ? textOf(answer['reason']) || 'Continue.' : undefined;
  }

  async #onRequest(method: string, params: Fields, signal: AbortSignal): Promise<object> {
    this.#invalidLines = 0;
    if (this.#session === undefined || params['sessionId'] !== this.#session.id)
      throw new RpcError(RPC.invalidParams, 'sessionId does not name the open session');
    if (method !== 'session/request_permission') return this.#callMethod(method, params);
    const context = {
      settings: this.#settings,
      hooks: this.#hooks,
      questions: this.#questions,
      turn: this.#turn.signal,
      print: printLine,
      onHeld: () => this.#hold(),
      onNote: (text: string) => void this.#notes.push(text),
    };
    // Some agents report a tool only by their request.
    this.#log.onUpdate({ ...fieldsOf(params['toolCall']), sessionUpdate: 'tool_call_update' });
    return answerPermission(params, context, signal);
  }

  async #callMethod(method: string, params: Fields): Promise<object> {
    // The answers to earlier requests are sent first.
    await new Promise(setImmediate);
    if (this.#agent.isBehind) throw new RpcError(RPC.internalError, 'earlier answers have not been read');
    return this.#methods.call(method, params);
  }

  /** While a session is loaded, the agent repeats earlier messages. The log has them already, so they are ignored. */
  #onNotification(method: string, params: Fields): void {
    this.#invalidLines = 0;
    const retry = readRetry(method, params);
    if (retry !== undefined) return this.#onRetry(retry);
    if (method !== 'session/update' || this.#session === undefined || params['sessionId'] !== this.#session.id) return;
    const update = fieldsOf(params['update']);
    const isTool = this.#log.onUpdate(update);
    const used = this.#usage.onUpdate(update);
    if (used !== undefined) printLine({ type: 'usage', of: 'message', ...used });
    if (isTool || used !== undefined || update['sessionUpdate'] === 'usage_update') void this.#checkBudget();
  }

  #onRetry({ error, message, resetAt, isRetrying }: NonNullable<ReturnType<typeof readRetry>>): void {
    this.#lastKind = error;
    if (isRetrying) printLine({ type: 'error', error, message, reset_at: resetAt, is_retrying: true });
  }

  #classify(error: RpcError): PromptError {
    const found = classifyError(error, Date.now());
    return { ...found, error: found.error ?? this.#lastKind };
  }

  /** Cancels the turn if a budget is exhausted: a tool that does not ask for permission cannot be held. */
  async #checkBudget(): Promise<void> {
    if (this.#isChecking || this.#turn.signal.aborted) return;
    this.#isChecking = true;
    const answer = await this.#hooks.call('pre-tool-use', { is_running: true }, this.#turn.signal);
    this.#isChecking = false;
    if (answer?.['continue'] === false) this.#hold();
  }

  #hold(): void {
    this.#isHeld = true;
    this.#cancelTurn();
  }

  #cancelTurn(): void {
    if (this.#session !== undefined) this.#agent.rpc.notify('session/cancel', { sessionId: this.#session.id });
    this.#turn.abort();
  }

  /** Agents print banners and warnings among their messages. An agent that prints nothing else does not speak ACP. */
  #onInvalid(line: string | null): void {
    this.#invalidLines += 1;
    this.#shownInvalid += 1;
    if (this.#shownInvalid <= SHOWN_INVALID)
      printLine({
        type: 'note',
        text: `not an ACP message: ${line?.slice(0, MAX_SHOWN) ?? 'a line that is too long'}`,
      });
    if (this.#invalidLines >= MAX_INVALID) this.#agent.rpc.close();
  }

  async #fail(error: unknown): Promise<number> {
    if (this.#isEnding) return EXIT_CANCELLED;
    if (error instanceof OpenError)
      return reportError({ error: error.isLogin ? 'unauthorized' : null, message: error.message, resetAt: null });
    if (isGone(error)) return this.#reportGone();
    if (error instanceof RpcError) return reportError(this.#classify(error));
    throw error;
  }

  async #reportGone(): Promise<number> {
    const { name } = this.#settings;
    if (this.#invalidLines >= MAX_INVALID)
      return reportError(plainError(`${name} does not speak ACP: ${MAX_INVALID} lines were not ACP messages`));
    const exit = await Promise.race([this.#agent.exited, delay(CANCEL_MS)]);
    const how =
      exit === undefined
        ? 'closed its output'
        : exit.error !== undefined
          ? `was not started: ${exit.error}`
          : `exited with ${exit.signal ?? `code ${exit.code}`}`;
    printLine({ type: 'note', text: `${name} ${how}` });
    printLine({ type: 'end', failed: true });
    return exit?.code === 0 || exit?.code === null || exit === undefined ? 1 : exit.code;
  }
}

function reportError({ error, message, resetAt }: PromptError): number {
  const text = message.slice(0, MAX_MESSAGE);
  printLine({ type: 'error', error, message: text, reset_at: resetAt, is_retrying: false });
  printLine({ type: 'end', failed: true });
  return 1;
}

function plainError(message: string): PromptError {
  return { error: null, message, resetAt: null };
}

function end(): number {
  printLine({ type: 'end', failed: false });
  return 0;
}

/** The folder that the agent keeps across its processes. */
const OWN_FOLDER = process.env['BATON_AGENT_DIR'];
/** The exit code that a shell reports for SIGTERM. */
const EXIT_CANCELLED = 143;
const CANCEL_MS = 3000;
const SHOWN_INVALID = 5;
const MAX_INVALID = 10_000;
const MAX_SHOWN = 300;
const MAX_MESSAGE = 4000;
