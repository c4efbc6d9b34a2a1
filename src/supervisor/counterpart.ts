import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import type { Answer } from '../api/answer.ts';
import { stateFiles } from '../api/state-folder.ts';
import type { Child } from './child.ts';
import type { AgentReport, filesIn, Launch, Running, Standing } from './contract.ts';
import { createControl, isStanding } from './control.ts';
import { DaemonLine } from './daemon-line.ts';
import type { Rooms } from './door.ts';
import { readHead } from './git-head.ts';
import { readHookConfig } from './hook-config.ts';
import { IdleTimer } from './idle-timer.ts';
import { hasKeptSignal } from './kept-signal.ts';
import { Permissions, type Permission } from './permissions.ts';
import { passOn } from './pass-on.ts';
import { PrintedSignals } from './printed-signals.ts';
import { readHook } from './answer-hook.ts';
import { Reporter } from './reporter.ts';
import { hearStream, hearText, type Speech } from './speech.ts';
import { UsageMeter } from './usage-meter.ts';
import { READERS } from '../streams/reader.ts';
import type { Said } from '../streams/said.ts';
import { ErrorDesk } from './error-desk.ts';
import { StopGuard } from './stop-guard.ts';
import type { Tail } from './tail.ts';

/** The one that a process talks to: its hooks, its calls, its words; and the daemon's words to it. */
export class Counterpart implements Rooms {
  readonly #launch: Launch;
  readonly #line: DaemonLine;
  readonly #reporter: Reporter;
  readonly #guard: StopGuard;
  readonly #speech: Speech;
  readonly #printed: PrintedSignals;
  readonly #tail: Tail;
  readonly #meter: UsageMeter;
  readonly #errors = new ErrorDesk();
  readonly #permissions = new Permissions();
  readonly #conversationFile: string;
  /** What it was told while it could not listen: it hears that when it next tries to stop. */
  readonly #held: string[] = [];
  readonly #answering = new Set<Promise<unknown>>();
  readonly #timers: NodeJS.Timeout[] = [];
  #idle: IdleTimer | undefined;
  #child: Child | undefined;
  /** How to end the process; known when it has been started. */
  readonly #end = Promise.withResolvers<() => Promise<void>>();
  #ending: Promise<void> | undefined;
  #timedOut = false;
  /** It was told something that no stop has followed yet. */
  #isTold = false;
  /** Nothing more is said to it: it may leave, and does. */
  #isLeaving = false;
  readonly #gone = Promise.withResolvers<void>();
  /** Its turn is over, and nobody has told it anything since. */
  #isWaiting = false;
  #conversation: string | null = null;
  #kept: string | null = null;
  #keys = 0;

  constructor(launch: Launch, files: ReturnType<typeof filesIn>, tail: Tail) {
    this.#launch = launch;
    this.#tail = tail;
    this.#line = new DaemonLine(launch.state_dir, launch.token);
    this.#reporter = new Reporter(launch, this.#line);
    this.#conversationFile = files.conversation;
    this.#meter = new UsageMeter(files.usage);
    this.#speech =
      launch.output === 'text' ? hearText() : hearStream(READERS[launch.output], (said) => this.#heard(said));
    this.#printed = new PrintedSignals(launch, this.#line, this.#speech);
    this.#guard = new StopGuard({
      agentId: launch.id,
      config: readHookConfig(files.config),
      owes: launch.owes,
      hasSignalled: this.#hasKeptSignal(),
      report: async (report) => this.report(report),
      settlePrinted: async (lastWords) => this.#settlePrinted(lastWords),
      askStanding: async () => this.#askStanding(),
      readHead: () => readHead(launch.cwd),
    });
  }

  /** The process runs: the clocks start. */
  begin(child: Child, running: Running): void {
    this.#child = child;
    const { prompt, timeout_ms, idle_ms, renew_ms, kind } = this.#launch;
    const { supervisor, process: own, start } = running;
    void this.report({ kind: 'started', start, supervisor, process: own });
    if (kind === 'agent') void this.#askStanding();
    if (prompt !== null) void child.tell(prompt);
    this.#idle = new IdleTimer(idle_ms, () => this.#onSilence());
    if (renew_ms !== null) this.#timers.push(setInterval(() => void this.#renew(), renew_ms));
    if (timeout_ms !== null && timeout_ms <= LONGEST_MS)
      this.#timers.push(setTimeout(() => this.#onTimeout(), timeout_ms));
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
    this.#idle?.touch();
    // In a stream of JSON the words are what is worth keeping, not the lines that carry them.
    if (this.#launch.output === 'text' || !isWords) this.#tail.push(chunk);
    if (isWords && this.#launch.kind === 'agent') this.#speech.push(chunk);
  }

  /** The process has gone: nothing is renewed, and nobody is idle. */
  rest(): void {
    this.#idle?.stop();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Its last words count like those of a turn; why it failed may be known only now. */
  async conclude(code: number | null): Promise<{ readonly timedOut: boolean; readonly wasLetGo: boolean }> {
    await this.#settlePrinted(undefined);
    await this.#readEnd(code);
    await this.#reportUsed();
    return { timedOut: this.#timedOut, wasLetGo: this.#guard.wasLetGo && !this.#guard.hasSignalled };
  }

  async report(report: AgentReport): Promise<Answer> {
    return this.#reporter.report(report);
  }

  /** When everybody who asked has been answered. */
  async farewell(): Promise<void> {
    this.#gone.resolve();
    await Promise.allSettled(this.#answering);
    // The answers themselves still have to leave.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  async hook(name: string, body: Buffer): Promise<object> {
    this.#idle?.touch();
    if (name === 'stop') return this.#answer(this.#stop(body));
    if (name === 'permission-request') return this.#askPermission(body);
    const said = readHook(name, body);
    if (said.kind === 'progress') this.#guard.progress();
    if (said.kind === 'report') await this.#answer(this.report(said.report));
    if (said.kind === 'failure') await this.#answer(this.#reportError(this.#errors.hook(said.report, said.isSure)));
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
          this.#idle?.touch();
          if (what === 'signal') this.#guard.signalled();
          if (what === 'unseen') this.#guard.unsure();
        },
      },
      isOwn,
    );
  }

  readonly #control = createControl({
    stand: (standing) => this.#stand(standing),
    send: async (text, permission) => this.#tell(text, permission),
    kill: async () => this.end(),
  });

  async #answer<T>(work: Promise<T>): Promise<T> {
    this.#answering.add(work);
    try {
      return await work;
    } finally {
      this.#answering.delete(work);
    }
  }

  /** Over HTTP an empty object lets it stop: clients call an answer that is not JSON a broken hook. */
  async #stop(body: Buffer): Promise<object> {
    const told = this.#held.splice(0).join('\n\n');
    if (told !== '') return { decision: 'block', reason: told };
    const output = await this.#guard.stop(body);
    this.#isTold = false;
    return output.decision === 'allow' ? {} : output;
  }

  /** Held until a person has decided; the client waits for it as long as that takes. */
  async #askPermission(body: Buffer): Promise<object> {
    const said = readHook('permission-request', body);
    const answered = this.#permissions.ask();
    if (said.kind === 'report') await this.#answer(this.report(said.report));
    return answered;
  }

  /** One that is leaving does not hear it. Its end is on record before that is said, and its next process can hear it instead. */
  async #tell(text: string, permission?: Permission): Promise<boolean> {
    if (this.#isLeaving) {
      await this.#gone.promise;
      return false;
    }
    // Whatever else it is told while it asks is no yes. It hears a yes at its hook, and goes on in its turn.
    if (this.#permissions.answer(permission ?? 'deny', text) && permission !== undefined) return true;
    this.#guard.told();
    this.#isTold = true;
    this.#isWaiting = false;
    this.#errors.clear();
    this.#idle?.touch();
    if (this.#launch.input !== 'once') return (await this.#child?.tell(text)) ?? false;
    this.#held.push(text);
    return true;
  }

  async #settlePrinted(lastWords: string | undefined): Promise<string | undefined> {
    const settled = await this.#printed.settle(lastWords);
    if (settled.kind === 'accepted') this.#guard.signalled();
    return settled.kind === 'refused' ? settled.message : undefined;
  }

  #heard(said: Said): void {
    switch (said.kind) {
      case 'conversation':
        this.#conversation = said.id;
        this.#meter.conversation(said.id);
        break;
      case 'model':
        this.#meter.model(said.model);
        break;
      case 'words':
        this.#keepConversation();
        this.#tail.push(Buffer.from(said.text));
        break;
      case 'tool-started':
        this.#keepConversation();
        this.#guard.progress();
        break;
      case 'usage':
        this.#meter.add(said, this.#isWaiting);
        break;
      case 'error':
        this.#errors.hear(said);
        break;
      case 'turn-ended':
        void this.#onTurnEnd(said.failed);
        break;
      case 'tool-ended':
      case 'permission':
        // The hooks have told of it.
        break;
    }
  }

  /** Only one in which the model has answered can be gone on with: before that, some clients keep nothing of it. */
  #keepConversation(): void {
    if (this.#conversation === null || this.#conversation === this.#kept) return;
    this.#kept = this.#conversation;
    writeFileSync(this.#conversationFile, this.#conversation, { mode: 0o600 });
  }

  /**
   * A client whose turn is over waits for the next message. One that may leave is let go; of any other the daemon hears, unless it was
   * an error that ended the turn. Clients that have one turn a process leave by themselves.
   */
  async #onTurnEnd(isError: boolean): Promise<void> {
    this.#meter.turnEnded();
    this.#isWaiting = !this.#isTold;
    await this.#settlePrinted(undefined);
    await this.#reportUsed();
    if (this.#isTold || this.#launch.input === 'once') return;
    if (isError) await this.#reportError(Promise.resolve(this.#errors.take()));
    else if (this.#guard.mayLeave || this.#guard.hasSignalled) this.#letLeave();
    else if (!this.#guard.isParked) await this.report({ kind: 'idle', why: 'waiting' });
  }

  #letLeave(): void {
    this.#isLeaving = true;
    this.#child?.hangUp();
  }

  async #reportError(found: Promise<AgentReport | undefined>): Promise<void> {
    const report = await found;
    if (report !== undefined) await this.report(report);
  }

  async #reportUsed(): Promise<void> {
    const used = this.#launch.kind === 'agent' ? this.#meter.take() : undefined;
    if (used !== undefined) await this.report(used);
  }

  async #readEnd(code: number | null): Promise<void> {
    const { output, env } = this.#launch;
    if (output === 'text') return;
    const conversation = this.#conversation;
    const end = { code, at: Date.now(), conversation, error: this.#errors.lastWords, env: { ...process.env, ...env } };
    for (const said of READERS[output].readEnd(end)) {
      if (said.kind === 'model') this.#meter.model(said.model);
      if (said.kind === 'error') this.#errors.hear(said);
    }
    const hasFailed = code !== 0 && code !== null && !this.#timedOut;
    if (hasFailed) await this.#reportError(Promise.resolve(this.#errors.take()));
    for (const text of this.#held.splice(0)) this.#tail.push(Buffer.from(`\n[not heard any more: ${text}]\n`));
  }

  #onSilence(): void {
    if (!this.#guard.isParked && !this.#guard.hasSignalled) void this.report({ kind: 'idle', why: 'quiet' });
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

  async #askStanding(): Promise<void> {
    const { token, id, start } = this.#launch;
    const key = `${id}:standing:${start}:${(this.#keys += 1)}`;
    const answer = await this.#line.ask({ operation: 'agent_standing', input: '{}', token, key });
    if (answer.ok && isStanding(answer.result)) this.#stand(answer.result);
  }

  #stand(standing: Standing): void {
    this.#guard.stand(standing, this.#hasKeptSignal());
  }

  #hasKeptSignal(): boolean {
    return hasKeptSignal(stateFiles(this.#launch.state_dir).outbox, this.#launch.agent_token);
  }
}

/** The longest that a timer can wait; whoever allows more has set no limit. */
const LONGEST_MS = 2_147_483_647;
