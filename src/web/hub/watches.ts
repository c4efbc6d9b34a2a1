import type { Answer } from '../../api/answer.ts';
import type { HubCall, Loaded, Query, Topic } from './messages.ts';

export interface WatchSources {
  readonly call: (call: HubCall) => Promise<Answer>;
  /** Computes a view of the folded state; undefined while the state is not loaded. */
  readonly look: (query: Query & { readonly kind: 'state' }) => Loaded<unknown> | Promise<Loaded<unknown>>;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => void;
}

type Send = (loaded: Loaded<unknown>) => void;

interface Watch {
  readonly query: Query;
  readonly followers: Map<object, Send>;
  loaded: Loaded<unknown>;
  text: string;
  isAsking: boolean;
  isAskedAgain: boolean;
  askedAt: number;
  isRetried: boolean;
}

/** Minimum intervals between updates: entries may arrive a hundred times a second, faster than anyone reads. */
const PACE_MS = { api: 400, state: 150 } as const;

const RETRY_MS = 3000;

/**
 * The subscriptions of all tabs. Equal queries of several tabs are sent once. A tab is notified only if the value has
 * changed.
 */
export class Watches {
  readonly #sources: WatchSources;
  readonly #watches = new Map<string, Watch>();

  constructor(sources: WatchSources) {
    this.#sources = sources;
  }

  /** Starts a subscription. Returns a function that ends it. */
  follow(query: Query, send: Send): () => void {
    const name = JSON.stringify(query);
    const known = this.#watches.get(name);
    const watch = known ?? this.#add(name, query);
    const follower = {};
    watch.followers.set(follower, send);
    if (known !== undefined && (watch.loaded.at !== undefined || watch.loaded.error !== undefined)) send(watch.loaded);
    return () => {
      watch.followers.delete(follower);
      if (watch.followers.size === 0) this.#watches.delete(name);
    };
  }

  #add(name: string, query: Query): Watch {
    const watch = {
      query,
      followers: new Map<object, Send>(),
      loaded: {},
      text: '',
      isAsking: false,
      isAskedAgain: false,
      askedAt: -Infinity,
      isRetried: false,
    };
    this.#watches.set(name, watch);
    this.#refresh(watch);
    if (query.kind === 'api' && query.everyMs !== undefined) this.#repeat(name, watch, query.everyMs);
    return watch;
  }

  #repeat(name: string, watch: Watch, everyMs: number): void {
    this.#sources.after(everyMs, () => {
      if (this.#watches.get(name) !== watch) return;
      this.#refresh(watch);
      this.#repeat(name, watch, everyMs);
    });
  }

  /** The projects that tabs show. */
  projects(): ReadonlySet<string> {
    const found = [...this.#watches.values()].map(({ query: { project } }) => project);
    return new Set(found.filter((project) => project !== undefined));
  }

  /** Handles a new entry in the project about these topics. */
  changed(project: string, topics: ReadonlySet<Topic>): void {
    for (const watch of this.#watches.values()) {
      const { query } = watch;
      const isHere = query.project === undefined || query.project === project;
      if (!isHere) continue;
      if (query.kind === 'state' || (query.on !== undefined && topics.has(query.on))) this.#refresh(watch);
    }
  }

  /** Repeats every query after the daemon has come back or gone, so that each list shows its age. */
  refreshAll(): void {
    for (const watch of this.#watches.values()) this.#refresh(watch);
  }

  #refresh(watch: Watch): void {
    if (watch.isAsking) {
      watch.isAskedAgain = true;
      return;
    }
    watch.isAsking = true;
    const waitMs = watch.askedAt + PACE_MS[watch.query.kind] - this.#sources.now();
    if (waitMs <= 0) void this.#ask(watch);
    else this.#sources.after(waitMs, () => void this.#ask(watch));
  }

  async #ask(watch: Watch): Promise<void> {
    watch.isAskedAgain = false;
    watch.askedAt = this.#sources.now();
    const loaded = watch.followers.size === 0 && watch.text !== '' ? watch.loaded : await this.#load(watch);
    watch.isAsking = false;
    const text = JSON.stringify([loaded.value, loaded.error]);
    if (text !== watch.text) {
      watch.text = text;
      watch.loaded = loaded;
      for (const send of watch.followers.values()) send(loaded);
    }
    if (watch.isAskedAgain) this.#refresh(watch);
    else if (loaded.error !== undefined) this.#tryAgain(watch);
  }

  /** Repeats a failed query, because there may be no entry that would repeat it. */
  #tryAgain(watch: Watch): void {
    if (watch.isRetried) return;
    watch.isRetried = true;
    this.#sources.after(RETRY_MS, () => {
      watch.isRetried = false;
      if (watch.followers.size > 0 && watch.loaded.error !== undefined) this.#refresh(watch);
    });
  }

  async #load(watch: Watch): Promise<Loaded<unknown>> {
    try {
      return await this.#read(watch);
    } catch (error) {
      // A fault of the page itself must not stop other views or the next attempt.
      const message = error instanceof Error ? error.message : String(error);
      return {
        ...watch.loaded,
        error: { code: 'internal', message: `the page failed: ${message}`, hint: 'Reload the page.' },
      };
    }
  }

  async #read({ query, loaded }: Watch): Promise<Loaded<unknown>> {
    if (query.kind === 'state') return this.#sources.look(query);
    const { operation, input, project } = query;
    const at = this.#sources.now();
    const answer = await this.#sources.call({ operation, input, ...(project === undefined ? {} : { project }) });
    // The last value stays, because an outdated list with its age is better than none.
    return answer.ok ? { value: answer.result, at } : { ...loaded, error: answer.error };
  }
}
