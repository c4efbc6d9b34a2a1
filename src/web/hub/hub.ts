import type { Answer } from '../../api/answer.ts';
import { objectsOf, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { LedgerPart } from '../model/ledger/ledger-parts.ts';
import { ProjectModel } from '../model/project-model.ts';
import { Jobs } from './jobs.ts';
import { LateCode } from './late-code.ts';
import { DaemonLink } from './link.ts';
import type { FromHub, HubCall, Loaded, Query, Standing, ToHub, Topic, Verified } from './messages.ts';
import { noAnswerError } from './no-answer.ts';
import type { StreamedEntry } from './streamed-entry.ts';
import { topicsOf } from './topics.ts';
import type { Verifications } from './verifications.ts';
import { Watches } from './watches.ts';

const NOT_VERIFIED: Verified = { to: 0, isRunning: false };

/** A browser tab. */
export interface Tab {
  send(message: FromHub): void;
}

/**
 * One worker for all tabs: one connection, one event stream, and one folded state for each project that a tab shows.
 */
export class Hub {
  readonly #tabs = new Map<Tab, Map<number, () => void>>();
  readonly #models = new Map<string, ProjectModel>();
  /** The path of each project, by which calls name their project. */
  readonly #paths = new Map<string, string>();
  #verifications: Verifications | undefined;
  readonly #late = new LateCode();
  readonly #jobs = new Jobs((project) => async (from, limit) => this.#readPart(project, from, limit), this.#late);
  readonly #watches = new Watches({
    call: async (call) => this.#call(call),
    look: async (query) => this.#look(query),
    now: () => Date.now(),
    after: (ms, run) => void setTimeout(run, ms),
  });
  readonly #link = new DaemonLink({
    onChange: (link) => {
      this.#tell();
      if (link.kind === 'away' && this.#wasLive) this.#watches.refreshAll();
      this.#wasLive = link.kind === 'live';
    },
    onLive: () => void this.#begin(),
    onEntries: (entries) => this.#receive(entries),
    onHeads: (heads) => this.#seeHeads(heads),
    after: () => Object.fromEntries([...this.#models].map(([id, { seq }]) => [id, seq])),
  });
  #wasLive = false;

  receive(tab: Tab, message: ToHub): void {
    switch (message.kind) {
      case 'hello':
        this.#tabs.set(tab, new Map());
        this.#link.knock(message);
        tab.send({ kind: 'standing', standing: this.#standing() });
        break;
      case 'watch':
        this.#watch(tab, message.id, message.query);
        break;
      case 'unwatch':
        this.#tabs.get(tab)?.get(message.id)?.();
        this.#tabs.get(tab)?.delete(message.id);
        break;
      case 'call':
        void this.#answer(tab, message.id, message.call);
        break;
      case 'verify':
        void this.#loadVerifications().then((verifications) => verifications.start(message.project, message.how));
        break;
      case 'job':
        this.#jobs.start(tab, message.id, message.job, (report) =>
          tab.send({ kind: 'report', id: message.id, report }),
        );
        break;
      case 'stop':
        this.#jobs.stop(tab, message.id);
        break;
      case 'bye':
        for (const end of this.#tabs.get(tab)?.values() ?? []) end();
        this.#tabs.delete(tab);
        this.#jobs.stopAll(tab);
        break;
    }
  }

  /** Sends a pulse, so that a tab notices if the hub itself has stopped. */
  beat(): void {
    this.#tell();
    const seen = this.#watches.projects();
    const heads = [...this.#models].filter(([id]) => seen.has(id)).map(([id, { seq }]) => [id, seq] as const);
    const isLive = this.#link.link.kind === 'live';
    if (isLive) void this.#late.load();
    if (this.#verifications !== undefined || isLive)
      void this.#loadVerifications().then((verifications) => verifications.beat(new Map(heads), isLive));
  }

  #watch(tab: Tab, id: number, query: Query): void {
    const end = this.#watches.follow(query, (loaded) => tab.send({ kind: 'loaded', id, loaded }));
    this.#tabs.get(tab)?.set(id, end);
    if (this.#tabs.get(tab) === undefined) end();
  }

  async #answer(tab: Tab, id: number, call: HubCall): Promise<void> {
    tab.send({ kind: 'answer', id, answer: await this.#call(call) });
  }

  async #call(call: HubCall): Promise<Answer> {
    if (call.project === undefined) return this.#link.call(call, undefined);
    if (!this.#paths.has(call.project)) await this.#readProjects();
    const path = this.#paths.get(call.project);
    if (path !== undefined) return this.#link.call(call, path);
    const { link } = this.#link;
    if (link.kind !== 'live') return { ok: false, error: noAnswerError(link.kind === 'away' ? link.why : 'gone') };
    return {
      ok: false,
      error: { code: 'no-such-project', message: 'this daemon has no such project', hint: 'Choose another project.' },
    };
  }

  async #readPart(project: string, from: number, limit: number): Promise<Answer<LedgerPart>> {
    const answer = await this.#call({ project, operation: 'ledger_export', input: { from, limit } });
    return answer as Answer<LedgerPart>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the daemon's declared result
  }

  async #readProjects(): Promise<void> {
    const answer = await this.#link.call({ operation: 'projects_list', input: {} }, undefined);
    if (!answer.ok) return;
    for (const { id, path } of objectsOf(fieldsOf(answer.result)['projects']))
      this.#paths.set(textOf(id), textOf(path));
  }

  /** Called when the stream is open. From now on no entry is missed, so everything read now is complete. */
  async #begin(): Promise<void> {
    void this.#late.load();
    await this.#readProjects();
    this.#watches.refreshAll();
  }

  #receive(entries: readonly StreamedEntry[]): void {
    const changed = new Map<string, Set<Topic>>();
    for (const streamed of entries) {
      const model = this.#modelOf(streamed.project, streamed.seq - 1);
      model.add(streamed);
      const topics = changed.get(streamed.project) ?? new Set();
      for (const topic of topicsOf(streamed.entry, model.state)) topics.add(topic);
      changed.set(streamed.project, topics);
    }
    for (const [project, topics] of changed) this.#watches.changed(project, topics);
  }

  #seeHeads(heads: ReadonlyMap<string, number>): void {
    for (const [id, seq] of heads) {
      const isNew = !this.#models.has(id);
      const model = this.#modelOf(id, seq);
      if (seq < model.seq) {
        model.goBack(seq);
        this.#watches.refreshAll();
      }
      // A tab may have requested a view before the project was known, and a quiet project has no entry that would
      // repeat the request.
      if (isNew) this.#watches.changed(id, new Set());
    }
  }

  #modelOf(id: string, seq: number): ProjectModel {
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const read = async (): Promise<Answer> => this.#call({ project: id, operation: 'state_snapshot', input: {} });
    const model = new ProjectModel(seq, read, async () => this.#late.loaded);
    this.#models.set(id, model);
    return model;
  }

  async #look({ project, view, params }: Query & { readonly kind: 'state' }): Promise<Loaded<unknown>> {
    const model = this.#models.get(project);
    if (model === undefined) return this.#link.link.kind === 'live' ? {} : { error: noAnswerError('gone') };
    const refused = await model.load();
    if (refused?.ok === false) return { error: refused.error };
    const { state } = model;
    const { link } = this.#link;
    const at = link.kind === 'live' ? Date.now() : link.kind === 'away' ? (link.shownAt ?? 0) : 0;
    if (state === undefined) return {};
    const { computeView } = await this.#late.loaded;
    return { value: computeView(state, view, params, at), at };
  }

  #standing(): Standing {
    const projects = [...this.#models].map(([id, { seq }]) => ({ id, seq, verified: this.#verified(id) }));
    const { keyName } = this.#link;
    return { link: this.#link.link, projects, ...(keyName === undefined ? {} : { keyName }) };
  }

  async #loadVerifications(): Promise<Verifications> {
    const { Verifications } = await this.#late.loaded;
    this.#verifications ??= new Verifications({
      call: async (call) => this.#call(call),
      daemonKey: () => this.#link.daemonKey,
      isBusy: () => this.#jobs.isBusy,
      onChange: () => this.#tell(),
    });
    return this.#verifications;
  }

  #verified(id: string): Verified {
    return this.#verifications?.of(id) ?? NOT_VERIFIED;
  }

  #tell(): void {
    const standing = this.#standing();
    for (const tab of this.#tabs.keys()) tab.send({ kind: 'standing', standing });
  }
}
