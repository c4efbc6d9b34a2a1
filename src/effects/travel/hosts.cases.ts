import { join } from 'node:path';
import type { CommandLoop } from '../../daemon/loop/command-loop.ts';
import { recordRemoteMain } from '../../daemon/project/remote-main.ts';
import { writeFence } from '../../git/fence/fence.ts';
import { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { Scratch } from '../../git/scratch.cases.ts';
import type { Caller } from '../../state/caller.ts';
import { decide, type Command } from '../../state/decide.ts';
import { event, type Event } from '../../state/event.ts';
import { findFleet } from '../../state/fleet/fleet.ts';
import { admit, found } from '../../state/fleet/say.cases.ts';
import { createStory, OPEN, type Story } from '../../state/given.cases.ts';
import { claim, create, operator, release, system } from '../../state/say.cases.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';
import { KeyedMutex } from '../locks.ts';
import { placeSession, type SessionPlacement } from '../sessions/session-place.ts';
import { TravelPush } from './travel-push.ts';

/** Two hosts, each with a clone and a state folder, that share one remote and the entries. */
export class Fleet {
  readonly scratch = new Scratch();
  readonly remote: string;
  readonly story: Story = createStory(OPEN);
  readonly alpha: Host;
  readonly beta: Host;
  nowMs = 0;

  constructor() {
    this.remote = this.scratch.bare('remote.git');
    const first = this.scratch.repository('seed');
    this.scratch.git(first, 'push', '--quiet', this.remote, 'main');
    const root = this.scratch.git(first, 'rev-parse', 'HEAD');
    this.alpha = new Host(this, 'alpha');
    this.beta = new Host(this, 'beta');
    this.say(found('alpha', { rootCommit: root, remote: this.remote }), system);
    this.say(admit('beta', { rootCommit: root }));
    const seen = { branch: 'main', sha: root, upstream: null, isConfigured: false, seenAt: '', move: null };
    this.say({ kind: 'see-main', command: seen }, system);
    this.say(create('A'));
  }

  /** `host` is added to claims, as that host's kernel does. */
  say(command: Command, caller = operator, host?: string): string | undefined {
    const outcome = decide(this.story.state, command, caller, OPEN, host);
    if (!outcome.ok) return outcome.refusal.message;
    const placed = (each: Event): Event =>
      each.type === 'TaskClaimed' && host !== undefined ? event('TaskClaimed', { ...each.data, host }) : each;
    this.record(...outcome.events.map(placed));
    return undefined;
  }

  record(...events: readonly Event[]): void {
    const from = this.story.entries.length;
    this.story.record(events, 'operator:ann');
    for (const host of [this.alpha, this.beta]) host.push.onRecorded(this.story.entries.slice(from));
  }

  get task(): Task {
    const task = this.story.state.tasks.get('A');
    if (task === undefined) throw new Error('no task');
    return task;
  }

  refs(pattern = 'refs/baton/'): Record<string, string> {
    const lines = this.scratch.git(this.remote, 'for-each-ref', '--format=%(refname) %(objectname)', pattern);
    return Object.fromEntries(
      lines
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ') as [string, string]),
    );
  }
}

export class Host {
  readonly #fleet: Fleet;
  readonly name: string;
  readonly path: string;
  readonly stateDir: string;
  readonly context: EffectContext;
  readonly push: TravelPush;
  readonly logged: string[] = [];

  constructor(fleet: Fleet, name: string) {
    const { scratch, remote } = fleet;
    this.#fleet = fleet;
    this.name = name;
    this.path = join(scratch.folder, name);
    scratch.git(scratch.folder, 'clone', '--quiet', remote, this.path);
    this.stateDir = join(scratch.folder, `state of ${name}`);
    const { state } = fleet.story;
    const place = { stateDir: this.stateDir, projectId: 'p', path: this.path };
    const log = (message: string, fields?: object) => void this.logged.push(`${message} ${JSON.stringify(fields)}`);
    const settings = {
      workspace: { copy: [], link: [] },
      protection: { patterns: [], inUse: [], programs: [] },
      filters: [],
    };
    const parts = {
      ...place,
      ownRepository: new OwnRepositoryImporter(place, undefined, () => findFleet(state)?.remote ?? null),
      readState: async (look: (of: State) => unknown) => look(state),
      submit: async (command: Command) => {
        const refused = fleet.say(command, system);
        return refused === undefined ? {} : { refused };
      },
      log: { info: log, error: log },
      here: () => ({ host: name, isCaretaker: name === 'alpha' }),
      recordMainMoves: async () => this.seeMain(),
      placeMutex: new KeyedMutex(),
      mergeSemaphore: { run: async <T>(work: () => Promise<T>) => work() },
      fence: async (taskId: string) => writeFence(this.stateDir, 'p', taskId, state.tasks.get(taskId)?.claim ?? null),
      sessions: settings,
      settingsFor: () => settings,
    };
    this.context = parts as unknown as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
    this.push = new TravelPush(this.context, () => fleet.nowMs);
  }

  /** Observes the main branch, as the caretaker does. */
  async seeMain(): Promise<string | undefined> {
    const { story, remote } = this.#fleet;
    const view = { state: story.state, rules: OPEN, at: '', ready: undefined as never };
    const commandLoop = {
      read: async <A>(select: (of: typeof view) => A) => ({ ok: true, answer: select(view) }),
      submitCommand: async (command: Command, caller: Caller) => {
        const outcome = decide(story.state, command, caller, OPEN, this.name);
        if (outcome.ok) this.#fleet.record(...outcome.events);
        return outcome;
      },
    } as unknown as CommandLoop; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const { path, ownRepository: own } = this.context;
    return recordRemoteMain({ path, own, commandLoop, into: () => undefined }, { remote, isCaretaker: true, term: 1 });
  }

  /** Claims the task, and makes its worktree like the start of an agent. */
  async begin(sessionId: string): Promise<string> {
    const fleet = this.#fleet;
    fleet.say(claim('A', sessionId), operator, this.name);
    const { epoch } = fleet.task;
    const placed = await this.place(epoch);
    if (placed?.ok !== true) throw new Error(JSON.stringify(placed));
    const { path: workspace, branch } = placed;
    const base = fleet.scratch.git(workspace, 'rev-parse', 'HEAD');
    const mission = { version: '1', task_id: 'T001', epic_id: 'E000', prd_id: 'P', instruction: 'do', context: {} };
    fleet.record(
      event('SessionPrepared', {
        agent_id: 'x',
        task_id: 'A',
        epoch,
        workspace,
        branch,
        base,
        port: null,
        mission,
      } as never),
    );
    return workspace;
  }

  async place(epoch: number): Promise<SessionPlacement | undefined> {
    const { task } = this.#fleet;
    const supervised = new Set(task.endings.map((ending) => ending.epoch));
    return placeSession({ task, epoch, holder: 'h', supervised }, this.context, new AbortController().signal);
  }

  /** Ends the session as the command loop does: pushes first. */
  async end(): Promise<void> {
    const { epoch } = this.#fleet.task;
    await this.push.pushBeforeEnd('A', epoch);
    this.#fleet.say(release('A'));
  }
}
