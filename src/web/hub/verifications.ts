import type { Answer } from '../../api/answer.ts';
import { webVerifier } from '../../ledger/format/crypto.ts';
import { takeTurn } from '../model/ledger/ledger-parts.ts';
import { ChainCheck, type SignedPart } from './chain-check.ts';
import type { HubCall, Verified, VerifyHow } from './messages.ts';
import { readKept, writeKept } from './page-store.ts';

export interface VerificationSources {
  readonly call: (call: HubCall) => Promise<Answer>;
  /** The key of this page's daemon; undefined before it has proved its identity. */
  readonly daemonKey: () => string | undefined;
  /** Whether a tab waits for a job of the hub. */
  readonly isBusy: () => boolean;
  readonly onChange: () => void;
}

const NOTHING: Verified = { to: 0, isRunning: false };
/** The delay before the first verification, so that the page shows its content first. */
const FIRST_MS = 3000;
/** How far the verification may be behind the newest entry, and the interval between two checks. */
const PACE_MS = 2000;
/** How often progress is sent to every tab. */
const TELL_MS = 200;
const PART_ENTRIES = 1000;

/** Verifies the chains of the projects that tabs show, in the background, one at a time. */
export class Verifications {
  readonly #sources: VerificationSources;
  readonly #checks = new Map<string, ChainCheck>();
  readonly #endedAt = new Map<string, number>();
  #running: ChainCheck | undefined;
  /** Whether a user waits for it; then it does not pause between slices. */
  #isUrgent = false;
  #liveAt: number | undefined;
  #toldAt = -Infinity;

  constructor(sources: VerificationSources) {
    this.#sources = sources;
  }

  of(project: string): Verified {
    return this.#checks.get(project)?.verified ?? NOTHING;
  }

  /** Starts a verification that the user requested. */
  start(project: string, how: VerifyHow): void {
    const check = this.#checkOf(project);
    if (check === undefined) return;
    if (check === this.#running) this.#isUrgent = true;
    else if (this.#running === undefined) void this.#run(project, check, how, true);
  }

  /** Called every second, with the projects that tabs show and the number of entries of each. */
  beat(projects: ReadonlyMap<string, number>, isLive: boolean): void {
    if (!isLive) {
      if (this.#liveAt !== undefined) for (const check of this.#checks.values()) check.compareAgain();
      this.#liveAt = undefined;
      return;
    }
    this.#liveAt ??= performance.now();
    const isEarly = performance.now() - this.#liveAt < FIRST_MS;
    for (const [project, head] of projects) {
      const check = this.#checkOf(project);
      if (check === undefined || isEarly || this.#running !== undefined || !check.isBehind(head)) continue;
      const restedMs = performance.now() - (this.#endedAt.get(project) ?? -Infinity);
      if (restedMs >= PACE_MS) void this.#run(project, check, 'on', false);
    }
  }

  async #run(project: string, check: ChainCheck, how: VerifyHow, isUrgent: boolean): Promise<void> {
    this.#running = check;
    this.#isUrgent = isUrgent;
    try {
      await check.run(how);
    } finally {
      this.#running = undefined;
      this.#endedAt.set(project, performance.now());
    }
  }

  #checkOf(project: string): ChainCheck | undefined {
    const known = this.#checks.get(project);
    const key = this.#sources.daemonKey();
    if (known !== undefined || key === undefined) return known;
    const name = `verified ${key} ${project}`;
    const check = new ChainCheck(project, {
      verifier: webVerifier,
      readPart: async (from) => this.#readPart(project, from),
      turn: async () => this.#turn(),
      now: () => Date.now(),
      read: async () => readKept(name),
      write: async (memory) => writeKept(name, memory),
      onChange: () => this.#tell(),
    });
    this.#checks.set(project, check);
    void check.load();
    return check;
  }

  async #readPart(project: string, from: number): Promise<Answer<SignedPart>> {
    const answer = await this.#sources.call({
      project,
      operation: 'ledger_export',
      input: { from, limit: PART_ENTRIES },
    });
    return answer as Answer<SignedPart>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the daemon's declared result
  }

  /**
   * Pauses after each slice. In the background verification takes at most half of the time, and less if a user waits
   * for something else.
   */
  async #turn(): Promise<void> {
    if (this.#isUrgent) return takeTurn();
    await new Promise((resolve) => setTimeout(resolve, this.#sources.isBusy() ? 200 : 20));
  }

  #tell(): void {
    const now = performance.now();
    if (this.#running?.verified.isRunning === true && now - this.#toldAt < TELL_MS) return;
    this.#toldAt = now;
    this.#sources.onChange();
  }
}
