import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../api/answer.ts';
import { stateFiles } from '../api/state-folder.ts';
import { parseStopHookInput } from '../protocol/stop-hook.ts';
import type { Child } from './child.ts';
import { Clocks } from './clocks.ts';
import type { AgentReport, filesIn, Launch, Running, Standing } from './contract.ts';
import { createControl } from './control.ts';
import { DaemonLine } from './daemon-line.ts';
import { denyTool } from './deny-tool.ts';
import type { Rooms } from './door.ts';
import { readHead } from './git-head.ts';
import { readHookConfig } from './hook-config.ts';
import { heardOutput } from './heard-output.ts';
import { Hearing } from './hearing.ts';
import { hasKeptSignal } from './kept-signal.ts';
import { Pause } from './pause.ts';
import { passOn } from './pass-on.ts';
import { PrintedSignals } from './printed-signals.ts';
import { readHook } from './answer-hook.ts';
import { recordHint } from './record-hint.ts';
import { Reporter } from './reporter.ts';
import { Silence } from './silence.ts';
import { StopGuard } from './stop-guard.ts';
import type { Tail } from './tail.ts';
import { Telling } from './telling.ts';

/** The one that a process talks to: its hooks, its calls, its words; and the daemon's words to it. */
export class Counterpart implements Rooms {
  readonly #launch: Launch;
  readonly #line: DaemonLine;
  readonly #reporter: Reporter;
  readonly #guard: StopGuard;
  readonly #pause: Pause;
  readonly #silence: Silence;
  readonly #hearing: Hearing;
  readonly #printed: PrintedSignals;
  readonly #tail: Tail;
  readonly #telling: Telling;
  readonly #control: (body: Buffer) => Promise<object>;
  readonly #answering = new Set<Promise<unknown>>();
  #clocks: Clocks | undefined;
  /** How to end the process; known when it has been started. */
  readonly #end = Promise.withResolvers<() => Promise<void>>();
  #ending: Promise<void> | undefined;
  #timedOut = false;
  #keys = 0;

  constructor(launch: Launch, files: ReturnType<typeof filesIn>, tail: Tail) {
    this.#launch = launch;
    this.#tail = tail;
    this.#telling = new Telling({ launch, heldPath: files.held, onTold: () => this.#onTold() });
    this.#control = createControl({
      stand: (standing) => this.#stand(standing),
      send: async (message, permission, wakes) =>
        (wakes && this.#pause.goesOn(this.#telling.isLeaving)) || this.#telling.tell(message, permission),
      kill: async () => this.end(),
      told: launch.held ?? [],
    });
    this.#line = new DaemonLine(launch.state_dir, launch.token);
    this.#reporter = new Reporter(launch, this.#line);
    this.#silence = new Silence({
      launch,
      isSuspended: () => this.#guard.isParked || this.#guard.hasSignalled || !this.#guard.isOwned,
      report: async (report) => this.#reportSilence(report),
    });
    this.#hearing = new Hearing({
      launch,
      files,
      tail,
      // The answer says how the agent stands after it: a budget may be used up.
      report: async (report) => this.#heard(report),
      onProgress: () => this.#guard.progress(),
      onTurnEnd: (failed) => void this.#onTurnEnd(failed),
      silence: this.#silence,
    });
    this.#printed = new PrintedSignals(launch, this.#reporter, this.#hearing.speech);
    this.#guard = new StopGuard({
      agentId: launch.id,
      config: readHookConfig(files.config),
      owes: launch.owes,
      hasKeptSignal: () => hasKeptSignal(stateFiles(launch.state_dir).outbox, launch.agent_token),
      report: async (report) => this.report(report),
      settlePrinted: async (lastWords) => this.#settlePrinted(lastWords),
      askStanding: async () => this.#askStanding(),
      readHead: () => readHead(launch.cwd),
    });
    this.#pause = new Pause(this.#guard, launch.hold_ms);
  }

  /** The process runs, or is awaited in somebody's terminal: the clocks start. */
  begin(child: Child | undefined, running: Running): void {
    const { prompt, kind } = this.#launch;
    const { supervisor, process: own, start } = running;
    void this.report({ kind: 'started', start, supervisor, process: own });
    if (kind === 'agent') void this.#guard.ask().then(() => this.#pause.look());
    void this.#telling.begin(child, prompt);
    if (prompt !== null) this.#pause.turnBegins();
    if (prompt !== null) this.#silence.turnBegan();
    this.#silence.begin();
    this.#clocks = new Clocks({
      launch: this.#launch,
      onSilence: () => this.#onSilence(),
      onRenewal: () => void this.#renew(),
      onReport: () => void this.#guard.ask().then(() => this.#pause.look()),
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
  hear(chunk: Buffer, isWords: boolean): void {
    this.#clocks?.touch();
    this.#silence.heard();
    // In a stream of JSON the words are what is worth keeping, not the lines that carry them.
    if (this.#launch.output === 'text' || !isWords) this.#tail.push(chunk);
    if (isWords && this.#launch.kind === 'agent') this.#hearing.speech.push(chunk);
  }

  /**
   * The process has gone: nothing is renewed, and nobody is idle. Resolves when what was begun to end it is over, and nothing of the kind
   * begins any more: the next process of this agent has the same mark, and would be ended in its stead.
   */
  async rest(): Promise<void> {
    this.#telling.left();
    this.#pause.drop();
    this.#clocks?.stop();
    this.#silence.stop();
    this.#ending ??= Promise.resolve();
    await this.#ending;
  }

  /** Its last words count like those of a turn; why it failed may be known only now. */
  async conclude(code: number | null): Promise<{ readonly timedOut: boolean; readonly wasLetGo: boolean }> {
    // An open question about its silence has settled itself, before its end is judged.
    this.#silence.turnEnded();
    await this.#silence.settled();
    if ((await this.#printed.settleLast()).kind === 'accepted') this.#guard.signalled();
    await this.#hearing.conclude(code, this.#timedOut);
    for (const { text } of this.#telling.takeUnheard()) this.#tail.push(Buffer.from(`\n[not heard yet: ${text}]\n`));
    return { timedOut: this.#timedOut, wasLetGo: this.#guard.wasLetGo && !this.#guard.hasSignalled };
  }

  async report(report: AgentReport): Promise<Answer> {
    return this.#reporter.report(report);
  }

  /** When there is an answer for everybody who asked. */
  async farewell(): Promise<void> {
    this.#telling.farewell();
    await Promise.allSettled(this.#answering);
  }

  async hook(name: string, body: Buffer): Promise<object> {
    this.#clocks?.touch();
    this.#silence.hook(name, body);
    if (this.#launch.terminal === true) return this.#answer(this.#attended(name, body));
    if (name === 'stop') return this.#answer(this.#stop(body));
    if (name === 'pre-tool-use') return this.#answer(this.#beforeTool(body));
    if (name === 'permission-request') return this.#askPermission(body);
    const said = readHook(name, body);
    if (said.kind === 'progress') this.#guard.progress();
    if (said.kind === 'report') await this.#answer(this.report(said.report));
    if (said.kind === 'failure') await this.#answer(this.#hearing.failed(said.report, said.isSure));
    return {};
  }

  async control(body: Buffer): Promise<object> {
    return this.#answer(this.#control(body));
  }

  async pass(request: IncomingMessage, response: ServerResponse, isOwn: boolean): Promise<void> {
    return passOn(
      request,
      response,
      {
        line: this.#line,
        newKey: () => `${this.#launch.id}:passed:${this.#launch.start}:${(this.#keys += 1)}`,
        onSaid: (what) => {
          this.#clocks?.touch();
          this.#silence.heard();
          if (what === 'signal') this.#guard.signalled();
          if (what === 'unseen') this.#guard.unsure();
        },
      },
      isOwn,
    );
  }

  async #answer<T>(work: Promise<T>): Promise<T> {
    this.#answering.add(work);
    try {
      return await work;
    } finally {
      this.#answering.delete(work);
    }
  }

  /** The client runs in a person's terminal, with what earlier processes did not hear on its command line. */
  opened(): void {
    this.#telling.opened();
  }

  /** With a person in front of it every stop is theirs: nothing is held, nothing is asked of others. What it signals counts as ever. */
  async #attended(name: string, body: Buffer): Promise<object> {
    if (name !== 'stop') return {};
    const input = parseStopHookInput(body);
    const said = input.ok ? input.value : {};
    await this.#settlePrinted(said.last_assistant_message);
    // The client need not wait until that is counted.
    void this.#answer(this.#hearing.attendedTurn(said.session_id));
    return {};
  }

  /** Something was said while a person was there. */
  get hasTalked(): boolean {
    return this.#hearing.hasTalked;
  }

  async #heard(report: AgentReport): Promise<Answer> {
    const answer = await this.#guard.report(report);
    this.#pause.look();
    return answer;
  }

  /** What it has used decides whether it may go on, and what others have: the word of that may still be on its way. */
  async #beforeTool(body: Buffer): Promise<object> {
    this.#pause.turnBegins();
    await heardOutput();
    if (!(await this.#hearing.beforeTool(recordHint(body)))) await this.#guard.askWhereHeard();
    this.#pause.look();
    if (await this.#pause.atTool()) return {};
    const { answer, endsProcess } = denyTool(this.#launch.output);
    if (endsProcess) await this.end();
    return answer;
  }

  /** Over HTTP an empty object lets it stop: clients call an answer that is not JSON a broken hook. */
  async #stop(body: Buffer): Promise<object> {
    const reason = this.#telling.atStop();
    if (reason !== undefined) return { decision: 'block', reason };
    // What it has used decides whether it may go on.
    await heardOutput();
    await this.#hearing.beforeStop(recordHint(body));
    // One that was parked only because it was silent is at work again.
    await this.#silence.settled();
    const output = await this.#guard.stop(body);
    this.#pause.look();
    this.#telling.stopAnswered(output.decision === 'allow');
    if (output.decision === 'allow' && this.#launch.output === 'text') this.#silence.turnEnded();
    return output.decision === 'allow' ? {} : output;
  }

  /** Held until a person has decided; the client waits for it as long as that takes. */
  async #askPermission(body: Buffer): Promise<object> {
    // Whoever waits for a budget is not heard with another question.
    const end = await this.#answer(this.#pause.atQuestion());
    if (end !== undefined) return end;
    const said = readHook('permission-request', body);
    const answered = this.#telling.askPermission();
    if (said.kind === 'report') await this.#answer(this.report(said.report));
    return answered;
  }

  #onTold(): void {
    this.#guard.told();
    this.#pause.turnBegins();
    this.#hearing.told();
    this.#clocks?.touch();
    this.#silence.turnBegan();
  }

  async #settlePrinted(lastWords: string | undefined): Promise<string | undefined> {
    const settled = await this.#printed.settle(lastWords);
    if (settled.kind === 'accepted') this.#guard.signalled();
    return settled.kind === 'refused' ? settled.message : undefined;
  }

  /**
   * A client whose turn is over waits for the next message. One that may leave is let go; of any other the daemon hears, unless it was
   * an error that ended the turn. Clients that have one turn a process leave by themselves.
   */
  async #onTurnEnd(isError: boolean): Promise<void> {
    this.#telling.turnEnded();
    this.#pause.turnEnds();
    await this.#settlePrinted(undefined);
    await this.#hearing.turnEnded(!this.#telling.isTold);
    if (this.#telling.isTold || this.#launch.input === 'once') return;
    const isLeaving = this.#guard.mayLeave || this.#guard.hasSignalled || !this.#guard.isOwned;
    if (isError || !isLeaving) this.#silence.turnEnded();
    if (isError) await this.#hearing.reportError();
    else if (isLeaving) this.#telling.letLeave();
    else if (!this.#guard.isParked) await this.report({ kind: 'idle', why: 'waiting' });
  }

  #onSilence(): void {
    if (!this.#guard.isParked && !this.#guard.hasSignalled) void this.report({ kind: 'idle', why: 'quiet' });
  }

  /** The answer says whether the agent is parked now, or not any more. */
  async #reportSilence(report: AgentReport): Promise<void> {
    const answer = await this.#guard.report(report);
    if (report.kind === 'heard' && !answer.ok) this.#guard.unpark();
    this.#pause.look();
  }

  #onTimeout(): void {
    this.#timedOut = true;
    void this.end();
  }

  async #renew(): Promise<void> {
    const { agent_token: token, id, start } = this.#launch;
    await this.#line.ask({
      operation: 'task_heartbeat',
      input: '{}',
      token,
      key: `${id}:renew:${start}:${(this.#keys += 1)}`,
    });
  }

  async #askStanding(): Promise<Answer> {
    const { token, id, start } = this.#launch;
    const key = `${id}:standing:${start}:${(this.#keys += 1)}`;
    return this.#line.ask({ operation: 'agent_standing', input: '{}', token, key });
  }

  #stand(standing: Standing): void {
    this.#guard.stand(standing);
    this.#pause.look();
  }
}
