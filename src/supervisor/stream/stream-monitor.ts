import { readFileSync } from 'node:fs';
import type { Answer } from '../../api/answer.ts';
import { writeFileAtomically } from '../../api/files.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import { ClientRecord, type RecordHint } from '../../streams/client-record.ts';
import { STREAM_READERS } from '../../streams/reader.ts';
import type { StreamEvent } from '../../streams/stream-event.ts';
import type { filesIn, Launch } from '../contract.ts';
import { isShortOfResources } from '../disk-room.ts';
import type { Tail } from '../process/output.ts';
import { ErrorReport } from './error-report.ts';
import { scanStream, scanText, type SignalScanner } from './signal-scanner.ts';
import type { SilenceReporter } from './silence.ts';
import { TerminalUsage, UsageMeter } from './usage-meter.ts';

type Errored = Extract<AgentReport, { kind: 'errored' }>;

export interface StreamMonitorOptions {
  readonly launch: Launch;
  readonly files: ReturnType<typeof filesIn>;
  readonly tail: Tail;
  readonly report: (report: AgentReport) => Promise<Answer>;
  /** It used a tool. */
  readonly onProgress: () => void;
  readonly onTurnEnd: (failed: boolean) => void;
  /** Measures how long nothing is heard. */
  readonly silence: Pick<SilenceReporter, 'onActivity' | 'onRetry' | 'toolStarted' | 'toolEnded'>;
}

/** What the client's own stream tells of the agent: its conversation, what it uses, what stops it. */
export class StreamMonitor {
  readonly scanner: SignalScanner;
  readonly #options: StreamMonitorOptions;
  readonly #meter: UsageMeter;
  readonly #errors = new ErrorReport();
  /** Its turn is over, and nobody has told it anything since. */
  #isWaiting = false;
  #conversation: string | null = null;
  readonly #attended: TerminalUsage | undefined;
  #hasTalked = false;
  #kept: string | null = null;
  #soon: NodeJS.Timeout | undefined;
  #usedAt = 0;
  #telling: Promise<Answer> | undefined;
  #paceMs = USAGE_REPORT_MS;
  #settledAt = Date.now();
  readonly #record: ClientRecord | undefined;

  constructor(options: StreamMonitorOptions) {
    const { output } = options.launch;
    this.#options = options;
    const isAttended = options.launch.terminal === true;
    this.#meter = new UsageMeter(options.files.usage, { closes: !isAttended });
    if (isAttended) {
      this.#attended = new TerminalUsage(options.launch, this.#meter.countedAt ?? EARLIEST_TIME);
      this.#conversation = this.#kept = readConversation(options.files.conversation);
      // The turn that was interrupted for the person is counted, and is none of theirs.
      this.#readTerminalUsage();
      this.#meter.closeTurn();
      this.#hasTalked = false;
    }
    this.#record = output === 'text' ? undefined : new ClientRecord(output, new Date().toISOString());
    this.scanner = output === 'text' ? scanText() : scanStream(STREAM_READERS[output], (said) => this.#onEvent(said));
  }

  /** It was told something: whatever stopped it before is over. */
  onMessageDelivered(): void {
    this.#isWaiting = false;
    this.#errors.clear();
  }

  /** A turn in a person's terminal is over. Some clients name the conversation only here. */
  async terminalTurnEnded(conversation: string | undefined): Promise<void> {
    this.#hasTalked = true;
    this.#nameConversation(conversation ?? null);
    this.#meter.turnEnded();
    this.#readTerminalUsage();
    await this.reportUsed(true);
  }

  /** Something was said in the terminal: a turn has ended there, or has at least been paid for. */
  get hadTurnInTerminal(): boolean {
    return this.#hasTalked;
  }

  async turnEnded(isWaiting: boolean): Promise<void> {
    this.#meter.turnEnded();
    this.#isWaiting = isWaiting;
    await this.reportUsed(true);
  }

  /** What its hook says of an API error; the stream may know more. */
  async hookFailed(report: Errored, isSure: boolean): Promise<void> {
    await this.#reportIfAny(await this.#errors.addHookError(report, isSure));
  }

  async reportError(): Promise<void> {
    await this.#reportIfAny(this.#errors.takeReport());
  }

  /**
   * Reports what the agent has used; the daemon records it if a budget moves by a step, and always if `isDue`. Returns whether there was
   * anything to report.
   */
  async reportUsed(isDue: boolean): Promise<boolean> {
    const isOverdue = Date.now() >= this.#settledAt + USAGE_RECORD_MS;
    const used = this.#options.launch.kind === 'agent' ? this.#meter.takeReport(isDue || isOverdue) : undefined;
    if (used === undefined) return false;
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#usedAt = Date.now();
    this.#options.silence.onActivity();
    if (used.is_due === true) this.#settledAt = this.#usedAt;
    this.#telling = this.#options.report(used);
    const answer = await this.#telling;
    // While the daemon is away each report is a file: the newest says all.
    this.#paceMs = answer.ok ? USAGE_REPORT_MS : USAGE_REPORT_AWAY_MS;
    return true;
  }

  /**
   * At the hook before a tool: reports what was used so far. If the request that asked for the tool is not counted yet, it counts as the
   * largest so far. Returns whether there was anything to report.
   */
  async beforeTool(hint: RecordHint | undefined): Promise<boolean> {
    const isUncounted = this.#readRecord(hint);
    this.#meter.setOpenRequests(isUncounted ? 1 : 0);
    return this.#reportNow();
  }

  /** The same at a stop: the client has counted all its requests. */
  async beforeStop(hint: RecordHint | undefined): Promise<boolean> {
    this.#readRecord(hint);
    this.#meter.setOpenRequests(0);
    return this.#reportNow();
  }

  async #reportNow(): Promise<boolean> {
    const isAway = this.#paceMs === USAGE_REPORT_AWAY_MS && Date.now() < this.#usedAt + this.#paceMs;
    if (!isAway && (await this.reportUsed(false))) return true;
    // A report that is under way is judged before the agent goes on.
    await this.#telling;
    return false;
  }

  /** Returns whether the request that asked for the tool is still missing in the client's record. */
  #readRecord(hint: RecordHint | undefined): boolean {
    const read = hint === undefined ? undefined : this.#record?.read(hint);
    if (read === undefined) return false;
    if (read.model !== null) this.#meter.setModel(read.model);
    for (const { id, ...said } of read.said) {
      const isOwn = said.of === 'conversation' && id === this.#conversation;
      this.#meter.add(isOwn || id === undefined ? said : { ...said, id }, this.#isWaiting);
    }
    return read.isUncounted;
  }

  /** A turn may take an hour, and a budget must not wait for its end. */
  #reportSoon(): void {
    this.#soon ??= setTimeout(
      () => {
        this.#soon = undefined;
        void this.reportUsed(false);
      },
      Math.max(0, this.#usedAt + this.#paceMs - Date.now()),
    ).unref();
  }

  /** The process has gone: why it failed may be known only now. */
  async conclude(code: number | null, wasEnded: boolean): Promise<void> {
    const { output, env } = this.#options.launch;
    if (output === 'text') return;
    if (this.#attended !== undefined) {
      this.#nameConversation(this.#conversation ?? this.#attended.findConversation());
      this.#readTerminalUsage();
      await this.reportUsed(true);
      return;
    }
    const conversation = this.#conversation;
    const end = {
      code,
      at: Date.now(),
      conversation,
      error: this.#errors.lastMessage,
      env: { ...process.env, ...env },
    };
    for (const said of STREAM_READERS[output].readEnd(end)) {
      if (said.kind === 'model') this.#meter.setModel(said.model);
      if (said.kind === 'error') this.#errors.addStreamError(said);
    }
    if (code !== 0 && code !== null && !wasEnded) await this.reportError();
    await this.reportUsed(true);
  }

  async #reportIfAny(report: AgentReport | undefined): Promise<void> {
    if (report !== undefined) await this.#options.report(report);
  }

  #nameConversation(conversation: string | null): void {
    if (conversation === null) return;
    this.#conversation = conversation;
    this.#meter.setConversation(conversation);
    this.#keepConversation();
  }

  #readTerminalUsage(): void {
    const said = this.#attended?.readNewUsage(this.#conversation);
    if (said === undefined) return;
    const before = this.#meter.tokens;
    this.#meter.add(said, false);
    this.#hasTalked ||= this.#meter.tokens > before;
  }

  #onEvent(said: StreamEvent): void {
    switch (said.kind) {
      case 'conversation':
        this.#conversation = said.id;
        this.#meter.setConversation(said.id);
        break;
      case 'model':
        this.#meter.setModel(said.model);
        break;
      case 'words':
        this.#keepConversation();
        this.#options.tail.push(Buffer.from(said.text));
        break;
      case 'tool-started':
        this.#keepConversation();
        this.#options.onProgress();
        this.#options.silence.toolStarted(said.id, said.tool);
        break;
      case 'usage':
        this.#meter.add(said, this.#isWaiting);
        if (said.of === 'message') this.#reportSoon();
        break;
      case 'error':
        this.#errors.addStreamError(said);
        if (said.isRetrying && said.resetAt !== null) this.#options.silence.onRetry(said.resetAt);
        break;
      case 'turn-ended':
        if (!said.failed) this.#keepConversation();
        this.#options.onTurnEnd(said.failed);
        break;
      case 'tool-ended':
        this.#options.silence.toolEnded(said.id);
        break;
      case 'permission':
        // The hooks have told of it.
        break;
    }
  }

  /** Only one in which the model has answered can be gone on with: before that, some clients keep nothing of it. */
  #keepConversation(): void {
    if (this.#conversation === null || this.#conversation === this.#kept) return;
    try {
      writeFileAtomically(this.#options.files.conversation, this.#conversation);
      this.#kept = this.#conversation;
    } catch (error) {
      // On a full disk it is written with the next word.
      if (!isShortOfResources(error)) throw error;
    }
  }
}

/** How often usage is reported while the agent works, apart from its hooks. */
const USAGE_REPORT_MS = 1000;
const USAGE_REPORT_AWAY_MS = 30_000;
/** How often usage is recorded at least, however little of a budget it is. */
const USAGE_RECORD_MS = 60_000;

function readConversation(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/** Nothing of it has been counted yet. */
const EARLIEST_TIME = '0000';
