import { listKept, readKept, removeKept, setAside, type KeptCall } from '../api/outbox.ts';
import { dispatch, type DispatchOptions } from './dispatch.ts';
import type { Tokens } from './tokens.ts';

export interface Delivered {
  readonly delivered: number;
  readonly refused: number;
  readonly waiting: number;
}

/**
 * Delivers what was kept while a daemon was away: in order, one at a time, each with the key that it would have had. What is refused has
 * been settled, and is set aside for people; what the store cannot take yet stays, and so does what comes after it in its project.
 */
export class OutboxDelivery {
  readonly #options: DispatchOptions & { readonly tokens: Tokens };
  #running: Promise<Delivered> | undefined;
  #underWay = 0;
  #again: NodeJS.Timeout | undefined;
  #delayMs = FIRST_DELAY_MS;
  #isStopped = false;

  constructor(options: DispatchOptions & { readonly tokens: Tokens }) {
    this.#options = options;
  }

  /** Delivers all that is there now. Called while it runs, it goes over the outbox once more. */
  async deliver(): Promise<Delivered> {
    const before = this.#running;
    this.#underWay += 1;
    const next = (async () => {
      await before;
      return this.#deliverAll();
    })().finally(() => (this.#underWay -= 1));
    this.#running = next;
    return next;
  }

  /**
   * Whoever gave up on a daemon just before the next one came has kept its call behind that one's back, and may never come again: what lies
   * there, and waits for nothing, is delivered.
   */
  glance(): void {
    const isBusy = this.#isStopped || this.#underWay > 0 || this.#again !== undefined;
    if (!isBusy && listKept(this.#options.outbox).length > 0) void this.deliver();
  }

  /** A store that is away does not say when it is back: look again, less and less often. */
  comeBack(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.deliver(), this.#delayMs).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, LAST_DELAY_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#again);
    await this.#running;
  }

  async #deliverAll(): Promise<Delivered> {
    const { outbox, log } = this.#options;
    clearTimeout(this.#again);
    this.#again = undefined;
    const held = new Set<string>();
    const counts = { delivered: 0, refused: 0 };
    for (const name of listKept(outbox)) {
      if (this.#isStopped) break;
      const call = readKept(outbox, name);
      if (call === undefined) {
        log.error('a kept call cannot be read, and was set aside', { name });
        setAside(outbox, name, 'corrupt');
        continue;
      }
      const project = call.projectPath ?? call.token;
      if (held.has(project)) continue;
      const outcome = await this.#deliverOne(name, call);
      if (outcome === 'waits') held.add(project);
      else counts[outcome] += 1;
    }
    if (counts.delivered + counts.refused > 0) log.info('kept calls were delivered', counts);
    if (held.size > 0) this.comeBack();
    else this.#delayMs = FIRST_DELAY_MS;
    return { ...counts, waiting: listKept(outbox).length };
  }

  async #deliverOne(name: string, call: KeptCall): Promise<'delivered' | 'refused' | 'waits'> {
    const { outbox, tokens, log } = this.#options;
    const { operation, key, token, projectPath, input } = call;
    const identity = tokens.identify(token);
    const answer =
      identity === undefined
        ? ({
            ok: false,
            error: { code: 'bad-token', message: 'the token is not one of this daemon', hint: '' },
          } as const)
        : await dispatch(
            {
              operation,
              identity,
              token,
              key,
              projectPath: projectPath ?? undefined,
              body: Buffer.from(input),
              isKept: true,
            },
            this.#options,
          );
    if (answer.ok) {
      removeKept(outbox, name);
      return 'delivered';
    }
    if (PASSES.has(answer.error.code)) return 'waits';
    log.error('a kept call was refused, and was set aside', { name, operation, code: answer.error.code });
    // Without its token: nobody needs it any more.
    setAside(outbox, name, 'refused', JSON.stringify({ ...call, token: undefined, answer }));
    return 'refused';
  }
}

const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 30_000;

/** Refusals that pass by themselves. */
const PASSES: ReadonlySet<string> = new Set(['store-unavailable', 'writeback-failed', 'rate-limited', 'stopping']);
