import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../api/answer.ts';
import { stateFiles } from '../api/state-folder.ts';
import type { AgentReport } from '../protocol/agent-report.ts';
import type { filesIn, Launch, Running } from './contract.ts';
import { createControlHandler } from './control.ts';
import { DaemonConnection, Reporter } from './daemon-connection.ts';
import { forwardRequest } from './forward-request.ts';
import { BudgetHold } from './hooks/budget-hold.ts';
import { readGitHead } from './hooks/git-head.ts';
import { readHookConfig } from './hooks/hook-config.ts';
import { answerHook, PendingWork } from './hooks/hook-handler.ts';
import type { HookRoutes } from './hooks/hook-server.ts';
import { StopGuard } from './hooks/stop-guard.ts';
import { LeaseGuard } from './lease-guard.ts';
import { MessageQueue } from './message-queue.ts';
import { hasSignalInOutbox } from './outbox-signal.ts';
import type { Child } from './process/child.ts';
import type { Freezer } from './process/freeze.ts';
import type { Tail } from './process/output.ts';
import { PrintedSignals } from './stream/printed-signals.ts';
import { SilenceReporter } from './stream/silence.ts';
import { StreamMonitor } from './stream/stream-monitor.ts';
import { AgentTimers } from './timers.ts';
import { JudgeCalls } from './verdicts/judge-calls.ts';

/** Connects one agent process to the daemon: its hooks, its calls, its output, and the daemon's messages to it. */
export class AgentHost implements HookRoutes {
  readonly launch: Launch;
  readonly daemon: DaemonConnection;
  readonly #reporter: Reporter;
  readonly guard: StopGuard;
  readonly budgetHold: BudgetHold;
  readonly silence: SilenceReporter;
  readonly stream: StreamMonitor;
  readonly #printed: PrintedSignals;
  readonly #tail: Tail;
  readonly messages: MessageQueue;
  readonly #control: (body: Buffer) => Promise<object>;
  readonly pending = new PendingWork();
  readonly judgeCalls: JudgeCalls;
  announced: Promise<unknown> = Promise.resolve();
  #timers: AgentTimers | undefined;
  #lease: LeaseGuard | undefined;
  /** The function that ends the process; resolves when the process has been started. */
  readonly #end = Promise.withResolvers<() => Promise<void>>();
  #ending: Promise<void> | undefined;
  #timedOut = false;
  #keys = 0;
  /** Brings a sandboxed session's commits into the repository before the agent's report about them is judged. */
  beforeJudging: () => Promise<void> = async () => {};
  /** Updates the session's branches before a message, which may be about a main branch that has moved. */
  beforeMessage: () => Promise<void> = async () => {};

  /** Set when the process has been started; see `Freezer`. */
  freezer: Freezer | undefined;
  /** Writes a line to the log of the run. */
  print: (line: string) => void = () => {};

  constructor(launch: Launch, files: ReturnType<typeof filesIn>, tail: Tail) {
    this.launch = launch;
    this.#tail = tail;
    this.judgeCalls = new JudgeCalls(launch.judge);
    this.messages = new MessageQueue({ launch, heldPath: files.held, onDelivered: () => this.#onMessageDelivered() });
    this.#control = createControlHandler(this);
    this.daemon = new DaemonConnection(launch.state_dir, launch.token);
    this.#reporter = new Reporter(launch, this.daemon);
    this.silence = new SilenceReporter(this);
    this.stream = new StreamMonitor({
      launch,
      files,
      tail,
      // The answer contains the agent's standing after the report, since a budget may be used up.
      report: async (report) => this.#reportUsage(report),
      isHeld: () => this.guard.isHeld,
      onProgress: () => this.guard.onProgress(),
      onBatonCall: (call) => this.judgeCalls.onPrinted(call),
      onTurnEnd: (failed) => void this.#onTurnEnd(failed),
      silence: this.silence,
    });
    this.#printed = new PrintedSignals(launch, this.#reporter, this.stream.scanner);
    this.guard = new StopGuard({
      agentId: launch.id,
      config: readHookConfig(files.config),
      owes: launch.owes,
      usesTools: launch.judge?.stream === true,
      hasKeptSignal: () => hasSignalInOutbox(stateFiles(launch.state_dir).outbox, launch.agent_token),
      report: async (report) => this.report(report),
      settlePrinted: async (lastWords) => this.settlePrinted(lastWords),
      askStanding: async () => this.#ask('agent_standing', 'standing', launch.token),
      readHead: () => readGitHead(launch.cwd),
    });
    this.budgetHold = new BudgetHold(this.guard, launch.hold_ms);
  }

  /** Starts the timers: the process runs, or is expected in a user's terminal. */
  begin(child: Child | undefined, running: Running): void {
    const { prompt, kind } = this.launch;
    const { supervisor, process: own, start, sandbox, judge } = running;
    const record = { ...(sandbox === undefined ? {} : { sandbox }), ...(judge === undefined ? {} : { judge }) };
    this.announced = this.report({ kind: 'started', start, supervisor, process: own, ...record });
    if (kind === 'agent') void this.guard.refreshStanding().then(() => this.budgetHold.update());
    void this.messages.begin(child, prompt);
    if (prompt !== null) this.budgetHold.turnBegins();
    if (prompt !== null) this.silence.turnBegan();
    this.silence.begin();
    const { renew_ms, fleet } = this.launch;
    const isFleet = fleet === true && renew_ms !== null;
    this.#timers = new AgentTimers(isFleet ? { ...this.launch, renew_ms: null } : this.launch, {
      onSilence: () => this.#onSilence(),
      onRenewal: () => void this.#renew(),
      onReport: () => void this.guard.refreshStanding().then(() => this.budgetHold.update()),
      onTimeout: () => {
        this.#timedOut = true;
        void this.end();
      },
    });
    if (!isFleet) return;
    this.#lease = new LeaseGuard(
      {
        renew: async (isFrozen) => this.#renew(isFrozen ? { frozen: true } : {}),
        freeze: async () => this.freezer?.freeze() ?? true,
        thaw: async () => this.freezer?.thaw(),
        onChange: (isFrozen, forMs) => this.#onFrozen(isFrozen, forMs),
        end: async () => this.end(),
        hasSignalled: () => this.guard.hasSignalled,
      },
      renew_ms,
    );
    this.#lease.begin();
  }

  /** Whether the claim could not be renewed, so that no process of the run may continue. */
  get isFrozen(): boolean {
    return this.#lease?.isFrozen === true;
  }

  /**
   * The time between SIGTERM and SIGKILL. 0 for a frozen process, which could not react and must not continue to do so.
   */
  get killAfterMs(): number {
    return this.isFrozen ? 0 : this.launch.kill_after_ms;
  }

  onEnd(end: () => Promise<void>): void {
    this.#end.resolve(end);
  }

  /** Ends the process, even if it is only about to start. */
  async end(): Promise<void> {
    this.#ending ??= this.#end.promise.then(async (end) => end());
    await this.#ending;
  }

  /** Receives a piece of output. `isWords`: the piece is from the agent's standard output. */
  onOutput(chunk: Buffer, isWords: boolean): void {
    this.#timers?.onActivity();
    this.silence.onActivity();
    // Of a stream of JSON only its text is kept, not the lines that contain it.
    if (this.launch.output === 'text' || !isWords) this.#tail.push(chunk);
    if (isWords && this.launch.kind === 'agent') this.stream.scanner.push(chunk);
  }

  /**
   * Resolves when no kill is in progress or can begin: the next process has the same mark and would be killed as well.
   */
  async onProcessGone(): Promise<void> {
    this.messages.onProcessGone();
    this.budgetHold.cancel();
    this.#timers?.stop();
    this.#lease?.stop();
    this.silence.stop();
    this.#ending ??= Promise.resolve();
    await this.#ending;
  }

  /**
   * Reads the last output as the end of a turn, and the reason of a failure, which may be known only after the exit.
   */
  async conclude(code: number | null): Promise<{ readonly timedOut: boolean; readonly wasLetGo: boolean }> {
    this.silence.turnEnded();
    await this.silence.untilReported();
    const printed = await this.#printed.sendAtExit(code);
    if (printed.kind === 'accepted') this.guard.onSignal();
    // A client with a stop hook has learned the reason there. A plain program has ended, so only the log has it.
    if (printed.kind === 'refused' && this.launch.output === 'text') this.print(`baton: ${printed.message}`);
    await this.stream.conclude(code, this.#timedOut);
    for (const { text } of this.messages.held.takeWaiting())
      this.#tail.push(Buffer.from(`\n[not delivered: ${text}]\n`));
    return { timedOut: this.#timedOut, wasLetGo: this.guard.wasLetGo && !this.guard.hasSignalled };
  }

  async report(report: AgentReport): Promise<Answer> {
    return this.#reporter.report(report);
  }

  async finishResponses(): Promise<void> {
    this.messages.onExitRecorded();
    await this.pending.settled();
  }

  async hook(name: string, body: Buffer): Promise<object> {
    this.#timers?.onActivity();
    this.silence.onHook(name, body);
    if (name === 'stop') await this.beforeJudging();
    return answerHook(this, name, body);
  }

  async control(body: Buffer): Promise<object> {
    return this.pending.track(this.#control(body));
  }

  async forward(request: IncomingMessage, response: ServerResponse, isOwn: boolean): Promise<void> {
    if (isOwn) await this.beforeJudging();
    return forwardRequest(this, request, response, isOwn);
  }

  /**
   * Called before the response. `signal`: the agent has signalled; `unseen`: it made a call that is not inspected;
   * `anything`: it made any call.
   */
  onForwarded(what: 'signal' | 'unseen' | 'anything'): void {
    this.#timers?.onActivity();
    this.silence.onActivity();
    if (what === 'signal') this.guard.onSignal();
    if (what === 'unseen') this.guard.onUnseenCall();
  }

  async #reportUsage(report: AgentReport): Promise<Answer> {
    const answer = await this.guard.report(report);
    this.budgetHold.update();
    return answer;
  }

  #onMessageDelivered(): void {
    this.guard.onMessageDelivered();
    this.budgetHold.turnBegins();
    this.stream.onMessageDelivered();
    this.#timers?.onActivity();
    this.silence.turnBegan();
  }

  async settlePrinted(lastWords: string | undefined): Promise<string | undefined> {
    await this.beforeJudging();
    const settled = await this.#printed.sendAtTurnEnd(lastWords);
    if (settled.kind === 'accepted') this.guard.onSignal();
    return settled.kind === 'refused' ? settled.message : undefined;
  }

  /** Closes the input if the client may exit, else reports idleness, unless an error ended the turn. */
  async #onTurnEnd(isError: boolean): Promise<void> {
    this.messages.turnEnded();
    this.budgetHold.turnEnds();
    await this.settlePrinted(undefined);
    await this.stream.turnEnded(!this.messages.isAwaitingStop);
    if (this.messages.isAwaitingStop || this.launch.input === 'once') return;
    const isLeaving = this.guard.mayLeave || this.guard.hasSignalled || !this.guard.isOwned;
    if (isError || !isLeaving) this.silence.turnEnded();
    if (isError) await this.stream.reportError();
    else if (isLeaving) this.messages.endInput();
    else if (!this.guard.isParked) await this.report({ kind: 'idle', why: 'waiting' });
  }

  #onSilence(): void {
    if (!this.guard.isParked && !this.guard.hasSignalled) void this.report({ kind: 'idle', why: 'quiet' });
  }

  /** Reports a silence. The answer tells whether the agent is parked now. */
  async reportSilence(report: AgentReport): Promise<void> {
    const answer = await this.guard.report(report);
    if (report.kind === 'heard' && !answer.ok) this.guard.unpark();
    this.budgetHold.update();
  }

  async #renew(input: object = {}): Promise<Answer> {
    return this.#ask('task_heartbeat', 'renew', this.launch.agent_token, JSON.stringify(input));
  }

  #onFrozen(isFrozen: boolean, forMs: number): void {
    if (isFrozen) this.#timers?.pause();
    else this.#timers?.resume();
    this.print(
      isFrozen ? FROZEN : `baton: the claim is renewed; the agent continues after ${Math.round(forMs / 1000)} s`,
    );
  }

  async #ask(operation: string, name: string, token: string, input = '{}'): Promise<Answer> {
    return this.daemon.request({ operation, input, token, key: this.newKey(name) });
  }

  newKey(name: string): string {
    return `${this.launch.id}:${name}:${this.launch.start}:${(this.#keys += 1)}`;
  }
}

const FROZEN = 'baton: the database no longer confirms the claim, so another host may have it: the agent is frozen';
