import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../api/answer.ts';
import { stateFiles } from '../api/state-folder.ts';
import type { AgentReport } from '../protocol/agent-report.ts';
import type { Standing } from '../protocol/standing.ts';
import { parseStopHookInput } from '../protocol/stop-hook.ts';
import type { filesIn, Launch, Running } from './contract.ts';
import { createControlHandler } from './control.ts';
import { DaemonConnection, Reporter } from './daemon-connection.ts';
import { forwardRequest } from './forward-request.ts';
import { BudgetHold, denyTool } from './hooks/budget-hold.ts';
import { readGitHead } from './hooks/git-head.ts';
import { readHookConfig } from './hooks/hook-config.ts';
import type { HookRoutes } from './hooks/hook-server.ts';
import { parseHook } from './hooks/read-hook.ts';
import { StopGuard } from './hooks/stop-guard.ts';
import { MessageQueue } from './message-queue.ts';
import { hasSignalInOutbox } from './outbox-signal.ts';
import type { Child } from './process/child.ts';
import type { Tail } from './process/output.ts';
import { parseRecordHint, PrintedSignals } from './stream/printed-signals.ts';
import { SilenceReporter } from './stream/silence.ts';
import { StreamMonitor } from './stream/stream-monitor.ts';
import { AgentTimers, drainOutput } from './timers.ts';

/** The one that a process talks to: its hooks, its calls, its words; and the daemon's words to it. */
export class AgentHost implements HookRoutes {
  readonly #launch: Launch;
  readonly #daemon: DaemonConnection;
  readonly #reporter: Reporter;
  readonly #guard: StopGuard;
  readonly #budgetHold: BudgetHold;
  readonly #silence: SilenceReporter;
  readonly #stream: StreamMonitor;
  readonly #printed: PrintedSignals;
  readonly #tail: Tail;
  readonly #messages: MessageQueue;
  readonly #control: (body: Buffer) => Promise<object>;
  readonly #openResponses = new Set<Promise<unknown>>();
  #timers: AgentTimers | undefined;
  /** How to end the process; known when it has been started. */
  readonly #end = Promise.withResolvers<() => Promise<void>>();
  #ending: Promise<void> | undefined;
  #timedOut = false;
  #keys = 0;

  constructor(launch: Launch, files: ReturnType<typeof filesIn>, tail: Tail) {
    this.#launch = launch;
    this.#tail = tail;
    this.#messages = new MessageQueue({ launch, heldPath: files.held, onDelivered: () => this.#onMessageDelivered() });
    this.#control = createControlHandler({
      setStanding: (standing) => this.#setStanding(standing),
      send: async (message, permission, wakes) =>
        (wakes && this.#budgetHold.continuesWithoutMessage(this.#messages.isLeaving)) ||
        this.#messages.deliver(message, permission),
      kill: async () => this.end(),
      told: launch.held ?? [],
    });
    this.#daemon = new DaemonConnection(launch.state_dir, launch.token);
    this.#reporter = new Reporter(launch, this.#daemon);
    this.#silence = new SilenceReporter({
      launch,
      isSuspended: () => this.#guard.isParked || this.#guard.hasSignalled || !this.#guard.isOwned,
      report: async (report) => this.#reportSilence(report),
    });
    this.#stream = new StreamMonitor({
      launch,
      files,
      tail,
      // The answer says how the agent stands after it: a budget may be used up.
      report: async (report) => this.#reportUsage(report),
      onProgress: () => this.#guard.onProgress(),
      onTurnEnd: (failed) => void this.#onTurnEnd(failed),
      silence: this.#silence,
    });
    this.#printed = new PrintedSignals(launch, this.#reporter, this.#stream.scanner);
    this.#guard = new StopGuard({
      agentId: launch.id,
      config: readHookConfig(files.config),
      owes: launch.owes,
      hasKeptSignal: () => hasSignalInOutbox(stateFiles(launch.state_dir).outbox, launch.agent_token),
      report: async (report) => this.report(report),
      settlePrinted: async (lastWords) => this.#settlePrinted(lastWords),
      askStanding: async () => this.#askStanding(),
      readHead: () => readGitHead(launch.cwd),
    });
    this.#budgetHold = new BudgetHold(this.#guard, launch.hold_ms);
  }

  /** The process runs, or is awaited in somebody's terminal: the clocks start. */
  begin(child: Child | undefined, running: Running): void {
    const { prompt, kind } = this.#launch;
    const { supervisor, process: own, start } = running;
    void this.report({ kind: 'started', start, supervisor, process: own });
    if (kind === 'agent') void this.#guard.refreshStanding().then(() => this.#budgetHold.update());
    void this.#messages.begin(child, prompt);
    if (prompt !== null) this.#budgetHold.turnBegins();
    if (prompt !== null) this.#silence.turnBegan();
    this.#silence.begin();
    this.#timers = new AgentTimers({
      launch: this.#launch,
      onSilence: () => this.#onSilence(),
      onRenewal: () => void this.#renew(),
      onReport: () => void this.#guard.refreshStanding().then(() => this.#budgetHold.update()),
      onTimeout: () => this.#onTimeout(),
    });
  }

  /** How the process, and all that it has started, is ended. */
  onEnd(end: () => Promise<void>): void {
    this.#end.resolve(end);
  }

  /** Also for a process that is only about to start. */
  async end(): Promise<void> {
    this.#ending ??= this.#end.promise.then(async (end) => end());
    await this.#ending;
  }

  /** A piece of output; on standard output the agent itself speaks. */
  onOutput(chunk: Buffer, isWords: boolean): void {
    this.#timers?.onActivity();
    this.#silence.onActivity();
    // In a stream of JSON the words are what is worth keeping, not the lines that carry them.
    if (this.#launch.output === 'text' || !isWords) this.#tail.push(chunk);
    if (isWords && this.#launch.kind === 'agent') this.#stream.scanner.push(chunk);
  }

  /**
   * The process has gone: nothing is renewed, and nobody is idle. Resolves when what was begun to end it is over, and nothing of the kind
   * begins any more: the next process of this agent has the same mark, and would be ended in its stead.
   */
  async onProcessGone(): Promise<void> {
    this.#messages.onProcessGone();
    this.#budgetHold.cancel();
    this.#timers?.stop();
    this.#silence.stop();
    this.#ending ??= Promise.resolve();
    await this.#ending;
  }

  /** Its last words count like those of a turn; why it failed may be known only now. */
  async conclude(code: number | null): Promise<{ readonly timedOut: boolean; readonly wasLetGo: boolean }> {
    // An open question about its silence has settled itself, before its end is judged.
    this.#silence.turnEnded();
    await this.#silence.untilReported();
    if ((await this.#printed.sendAtExit()).kind === 'accepted') this.#guard.onSignal();
    await this.#stream.conclude(code, this.#timedOut);
    for (const { text } of this.#messages.takeUndelivered())
      this.#tail.push(Buffer.from(`\n[not heard yet: ${text}]\n`));
    return { timedOut: this.#timedOut, wasLetGo: this.#guard.wasLetGo && !this.#guard.hasSignalled };
  }

  async report(report: AgentReport): Promise<Answer> {
    return this.#reporter.report(report);
  }

  /** When there is an answer for everybody who asked. */
  async finishResponses(): Promise<void> {
    this.#messages.onExitRecorded();
    await Promise.allSettled(this.#openResponses);
  }

  async hook(name: string, body: Buffer): Promise<object> {
    this.#timers?.onActivity();
    this.#silence.onHook(name, body);
    if (this.#launch.terminal === true) return this.#trackResponse(this.#hookInTerminal(name, body));
    if (name === 'stop') return this.#trackResponse(this.#stop(body));
    if (name === 'pre-tool-use') return this.#trackResponse(this.#beforeTool(body));
    if (name === 'permission-request') return this.#askPermission(body);
    const said = parseHook(name, body);
    if (said.kind === 'progress') this.#guard.onProgress();
    if (said.kind === 'report') await this.#trackResponse(this.report(said.report));
    if (said.kind === 'failure') await this.#trackResponse(this.#stream.hookFailed(said.report, said.isSure));
    return {};
  }

  async control(body: Buffer): Promise<object> {
    return this.#trackResponse(this.#control(body));
  }

  async forward(request: IncomingMessage, response: ServerResponse, isOwn: boolean): Promise<void> {
    return forwardRequest(
      request,
      response,
      {
        line: this.#daemon,
        newKey: () => `${this.#launch.id}:passed:${this.#launch.start}:${(this.#keys += 1)}`,
        onForwarded: (what) => {
          this.#timers?.onActivity();
          this.#silence.onActivity();
          if (what === 'signal') this.#guard.onSignal();
          if (what === 'unseen') this.#guard.onUnseenCall();
        },
      },
      isOwn,
    );
  }

  async #trackResponse<T>(work: Promise<T>): Promise<T> {
    this.#openResponses.add(work);
    try {
      return await work;
    } finally {
      this.#openResponses.delete(work);
    }
  }

  /** The client runs in a person's terminal, with what earlier processes did not hear on its command line. */
  onTerminalOpened(): void {
    this.#messages.onTerminalOpened();
  }

  /** With a person in front of it every stop is theirs: nothing is held, nothing is asked of others. What it signals counts as ever. */
  async #hookInTerminal(name: string, body: Buffer): Promise<object> {
    if (name !== 'stop') return {};
    const input = parseStopHookInput(body);
    const said = input.ok ? input.value : {};
    await this.#settlePrinted(said.last_assistant_message);
    // The client need not wait until that is counted.
    void this.#trackResponse(this.#stream.terminalTurnEnded(said.session_id));
    return {};
  }

  /** Something was said while a person was there. */
  get hadTurnInTerminal(): boolean {
    return this.#stream.hadTurnInTerminal;
  }

  async #reportUsage(report: AgentReport): Promise<Answer> {
    const answer = await this.#guard.report(report);
    this.#budgetHold.update();
    return answer;
  }

  /** What it has used decides whether it may go on, and what others have: the word of that may still be on its way. */
  async #beforeTool(body: Buffer): Promise<object> {
    this.#budgetHold.turnBegins();
    await drainOutput();
    if (!(await this.#stream.beforeTool(parseRecordHint(body)))) await this.#guard.refreshStandingIfReachable();
    this.#budgetHold.update();
    if (await this.#budgetHold.holdTool()) return {};
    const { answer, endsProcess } = denyTool(this.#launch.output);
    if (endsProcess) await this.end();
    return answer;
  }

  /** Over HTTP an empty object lets it stop: clients call an answer that is not JSON a broken hook. */
  async #stop(body: Buffer): Promise<object> {
    const reason = this.#messages.takeMessagesAtStop();
    if (reason !== undefined) return { decision: 'block', reason };
    // What it has used decides whether it may go on.
    await drainOutput();
    await this.#stream.beforeStop(parseRecordHint(body));
    // One that was parked only because it was silent is at work again.
    await this.#silence.untilReported();
    const output = await this.#guard.stop(body);
    this.#budgetHold.update();
    this.#messages.stopAnswered(output.decision === 'allow');
    if (output.decision === 'allow' && this.#launch.output === 'text') this.#silence.turnEnded();
    return output.decision === 'allow' ? {} : output;
  }

  /** Held until a person has decided; the client waits for it as long as that takes. */
  async #askPermission(body: Buffer): Promise<object> {
    // Whoever waits for a budget is not heard with another question.
    const end = await this.#trackResponse(this.#budgetHold.holdQuestion());
    if (end !== undefined) return end;
    const said = parseHook('permission-request', body);
    const answered = this.#messages.askPermission();
    if (said.kind === 'report') await this.#trackResponse(this.report(said.report));
    return answered;
  }

  #onMessageDelivered(): void {
    this.#guard.onMessageDelivered();
    this.#budgetHold.turnBegins();
    this.#stream.onMessageDelivered();
    this.#timers?.onActivity();
    this.#silence.turnBegan();
  }

  async #settlePrinted(lastWords: string | undefined): Promise<string | undefined> {
    const settled = await this.#printed.sendAtTurnEnd(lastWords);
    if (settled.kind === 'accepted') this.#guard.onSignal();
    return settled.kind === 'refused' ? settled.message : undefined;
  }

  /**
   * A client whose turn is over waits for the next message. One that may leave is let go; of any other the daemon hears, unless it was
   * an error that ended the turn. Clients that have one turn a process leave by themselves.
   */
  async #onTurnEnd(isError: boolean): Promise<void> {
    this.#messages.turnEnded();
    this.#budgetHold.turnEnds();
    await this.#settlePrinted(undefined);
    await this.#stream.turnEnded(!this.#messages.isAwaitingStop);
    if (this.#messages.isAwaitingStop || this.#launch.input === 'once') return;
    const isLeaving = this.#guard.mayLeave || this.#guard.hasSignalled || !this.#guard.isOwned;
    if (isError || !isLeaving) this.#silence.turnEnded();
    if (isError) await this.#stream.reportError();
    else if (isLeaving) this.#messages.endInput();
    else if (!this.#guard.isParked) await this.report({ kind: 'idle', why: 'waiting' });
  }

  #onSilence(): void {
    if (!this.#guard.isParked && !this.#guard.hasSignalled) void this.report({ kind: 'idle', why: 'quiet' });
  }

  /** The answer says whether the agent is parked now, or not any more. */
  async #reportSilence(report: AgentReport): Promise<void> {
    const answer = await this.#guard.report(report);
    if (report.kind === 'heard' && !answer.ok) this.#guard.unpark();
    this.#budgetHold.update();
  }

  #onTimeout(): void {
    this.#timedOut = true;
    void this.end();
  }

  async #renew(): Promise<void> {
    const { agent_token: token, id, start } = this.#launch;
    await this.#daemon.request({
      operation: 'task_heartbeat',
      input: '{}',
      token,
      key: `${id}:renew:${start}:${(this.#keys += 1)}`,
    });
  }

  async #askStanding(): Promise<Answer> {
    const { token, id, start } = this.#launch;
    const key = `${id}:standing:${start}:${(this.#keys += 1)}`;
    return this.#daemon.request({ operation: 'agent_standing', input: '{}', token, key });
  }

  #setStanding(standing: Standing): void {
    this.#guard.setStanding(standing);
    this.#budgetHold.update();
  }
}
