import type { Answer } from '../../api/answer.ts';
import { readFileIfPresent, writeFileAtomically } from '../../api/files.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';
import { ClientRecord } from '../../streams/client-record.ts';
import type { RecordHint } from '../../streams/client-stream.ts';
import type { TokenUse } from '../../sandbox/network/meter/request-meter.ts';
import { STREAMS } from '../../streams/reader.ts';
import type { BatonCall, StreamEvent } from '../../streams/stream-event.ts';
import type { filesIn, Launch } from '../contract.ts';
import { isShortOfResources } from '../disk-room.ts';
import type { Tail } from '../process/output.ts';
import { ErrorReport } from './error-report.ts';
import { RequestGate } from './request-gate.ts';
import { scanStream, scanText, type SignalScanner } from './signal-scanner.ts';
import type { SilenceReporter } from './silence.ts';
import { outsideOf, recordsOf } from './client-records.ts';
import { TerminalUsage, UsageMeter } from './usage-meter.ts';

type Errored = Extract<AgentReport, { kind: 'errored' }>;

export interface StreamMonitorOptions {
  readonly launch: Launch;
  readonly files: ReturnType<typeof filesIn>;
  readonly tail: Tail;
  readonly report: (report: AgentReport) => Promise<Answer>;
  /** Whether a budget of the agent is used up. */
  readonly isHeld: () => boolean;
  readonly onProgress: () => void;
  /** The client's model calls a tool of Baton. */
  readonly onBatonCall: (call: BatonCall) => void;
  readonly onTurnEnd: (failed: boolean) => void;
  readonly silence: Pick<SilenceReporter, 'onActivity' | 'onRetry' | 'toolStarted' | 'toolEnded'>;
}

export class StreamMonitor {
  readonly scanner: SignalScanner;
  /** Admits and counts the requests that use an injected key. */
  readonly requests: RequestGate;
  readonly #options: StreamMonitorOptions;
  readonly #meter: UsageMeter;
  readonly #errors = new ErrorReport();
  /** Whether the turn is over and no message has followed. */
  #isWaiting = false;
  #conversation: string | null = null;
  readonly #attended: TerminalUsage | undefined;
  hadTurnInTerminal = false;
  #kept: string | null = null;
  #soon: NodeJS.Timeout | undefined;
  #usedAt = 0;
  #reporting: Promise<Answer> | undefined;
  #paceMs = USAGE_REPORT_MS;
  #settledAt = Date.now();
  readonly #record: ClientRecord | undefined;

  constructor(options: StreamMonitorOptions) {
    const { output } = options.launch;
    this.#options = options;
    this.requests = new RequestGate({
      report: async (reserved) => {
        this.#meter.setReserved(reserved);
        await this.#reportNow();
      },
      isHeld: options.isHeld,
      onSettled: (used) => this.#onSettled(used),
    });
    const isAttended = options.launch.terminal === true;
    this.#meter = new UsageMeter(options.files.usage, { closes: !isAttended, isMeasured: isMeasured(options.launch) });
    if (isAttended) {
      this.#attended = new TerminalUsage(options.launch, this.#meter.countedAt ?? EARLIEST_TIME);
      this.#conversation = this.#kept = readFileIfPresent(options.files.conversation).trim() || null;
      // Counts the turn that the user interrupted, so that it is not attributed to the terminal.
      this.#readTerminalUsage();
      this.#meter.closeTurn();
      this.hadTurnInTerminal = false;
    }
    this.#record = output === 'text' ? undefined : new ClientRecord(output, new Date().toISOString());
    this.scanner = output === 'text' ? scanText() : scanStream(STREAMS[output], (event) => this.#onEvent(event));
  }

  /** Clears the error that stopped the agent, because a new message was delivered. */
  onMessageDelivered(): void {
    this.#isWaiting = false;
    this.#errors.clear();
  }

  /** Records the end of a turn in a user's terminal. Some clients name the conversation only here. */
  async terminalTurnEnded(conversation: string | undefined): Promise<void> {
    this.hadTurnInTerminal = true;
    this.#nameConversation(conversation ?? null);
    this.#meter.turnEnded();
    this.#readTerminalUsage();
    await this.reportUsed(true);
  }

  async turnEnded(isWaiting: boolean): Promise<void> {
    this.#meter.turnEnded();
    this.#isWaiting = isWaiting;
    await this.reportUsed(true);
  }

  /** Records an API error that the hook reported; the stream may add details. */
  async hookFailed(report: Errored, isSure: boolean): Promise<void> {
    await this.#reportIfAny(await this.#errors.addHookError(report, isSure));
  }

  async reportError(): Promise<void> {
    await this.#reportIfAny(this.#errors.takeReport());
  }

  /**
   * Reports usage if there is any, and returns whether it did. The daemon records the report if a budget passes a step,
   * or if `isDue`.
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
    this.#reporting = this.#options.report(used);
    const answer = await this.#reporting;
    // While the daemon is away each report is a file, and the newest contains the earlier ones, so reports are rarer.
    this.#paceMs = answer.ok ? USAGE_REPORT_MS : USAGE_REPORT_AWAY_MS;
    return true;
  }

  /**
   * Reports usage before a tool call. A request that the client has not counted yet counts as the largest so far.
   * Returns whether there was a report.
   */
  async beforeTool(hint: RecordHint | undefined): Promise<boolean> {
    const isUncounted = this.#readRecord(hint);
    this.#meter.setOpenRequests(isUncounted ? 1 : 0);
    return this.#reportNow();
  }

  /** Reports usage at a stop, when the client has counted all its requests. */
  async beforeStop(hint: RecordHint | undefined): Promise<boolean> {
    this.#readRecord(hint);
    this.#meter.setOpenRequests(0);
    return this.#reportNow();
  }

  /** Counts and reports a measured request. New usage is priced by its model, so that of another model is recorded first. */
  #onSettled(used: TokenUse): void {
    const { measuredModel } = this.#meter;
    if (used.model !== null && measuredModel !== null && used.model !== measuredModel) void this.reportUsed(true);
    this.#meter.addMeasured(used, this.#isWaiting);
    if (this.#paceMs === USAGE_REPORT_AWAY_MS) this.#reportSoon();
    else void this.reportUsed(false);
  }

  async #reportNow(): Promise<boolean> {
    const isAway = this.#paceMs === USAGE_REPORT_AWAY_MS && Date.now() < this.#usedAt + this.#paceMs;
    if (!isAway && (await this.reportUsed(false))) return true;
    // A report in flight is completed before the agent continues.
    await this.#reporting;
    return false;
  }

  /** Reads the client's record. Returns whether it still lacks the request that called the tool. */
  #readRecord(hint: RecordHint | undefined): boolean {
    const { sandbox } = this.#options.launch;
    const read = hint && this.#record?.read({ ...hint, path: outsideOf(hint.path, sandbox) });
    if (read === undefined) return false;
    if (read.model !== null) this.#meter.setModel(read.model);
    for (const { id, ...event } of read.events) {
      const isOwn = event.of === 'conversation' && id === this.#conversation;
      this.#meter.add(isOwn || id === undefined ? event : { ...event, id }, this.#isWaiting);
    }
    return read.isUncounted;
  }

  /** Schedules a report: a turn may take an hour, and a budget must not wait for its end. */
  #reportSoon(): void {
    this.#soon ??= setTimeout(
      () => {
        this.#soon = undefined;
        void this.reportUsed(false);
      },
      Math.max(0, this.#usedAt + this.#paceMs - Date.now()),
    ).unref();
  }

  /** Reads the reason of a failure, which may be known only after the process has exited. */
  async conclude(code: number | null, wasEnded: boolean): Promise<void> {
    const { output } = this.#options.launch;
    this.requests.settleOpen();
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
      folder: recordsOf(this.#options.launch),
    };
    for (const event of STREAMS[output].readEnd(end)) {
      if (event.kind === 'model') this.#meter.setModel(event.model);
      if (event.kind === 'error') this.#errors.addStreamError(event);
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
    const event = this.#attended?.readNewUsage(this.#conversation);
    if (event === undefined) return;
    const before = this.#meter.tokens;
    this.#meter.add(event, false);
    this.hadTurnInTerminal ||= this.#meter.tokens > before;
  }

  #onEvent(event: StreamEvent): void {
    switch (event.kind) {
      case 'conversation':
        this.#conversation = event.id;
        this.#meter.setConversation(event.id);
        break;
      case 'model':
        this.#meter.setModel(event.model);
        break;
      case 'words':
        this.#keepConversation();
        this.#options.tail.push(Buffer.from(event.text));
        break;
      case 'tool-started':
        this.#keepConversation();
        this.#options.onProgress();
        this.#options.silence.toolStarted(event.id, event.tool);
        if (event.baton !== undefined) this.#options.onBatonCall(event.baton);
        break;
      case 'usage':
        this.#meter.add(event, this.#isWaiting);
        if (event.of === 'message') this.#reportSoon();
        break;
      case 'error':
        this.#errors.addStreamError(event);
        if (event.isRetrying && event.resetAt !== null) this.#options.silence.onRetry(event.resetAt);
        break;
      case 'turn-ended':
        if (!event.failed) this.#keepConversation();
        this.#options.onTurnEnd(event.failed);
        break;
      case 'tool-ended':
        this.#options.silence.toolEnded(event.id);
        break;
      case 'permission':
        break;
    }
  }

  /** Stores the conversation for a resume once the model has answered: some clients store none before that. */
  #keepConversation(): void {
    if (this.#conversation === null || this.#conversation === this.#kept) return;
    try {
      writeFileAtomically(this.#options.files.conversation, this.#conversation);
      this.#kept = this.#conversation;
    } catch (error) {
      // On a full disk, the next event repeats the write.
      if (!isShortOfResources(error)) throw error;
    }
  }
}

/** Whether Baton injects the key of this process, and so reads its usage from the answers of the API. */
function isMeasured({ sandbox }: Pick<Launch, 'sandbox'>): boolean {
  return (sandbox?.network.inject.length ?? 0) > 0;
}

/** How often usage is reported while the agent works, besides its hooks. */
const USAGE_REPORT_MS = 1000;
const USAGE_REPORT_AWAY_MS = 30_000;
/** The minimum rate at which usage is recorded, however small it is. */
const USAGE_RECORD_MS = 60_000;
const EARLIEST_TIME = '0000';
