import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '../state/decide.ts';
import type { Recorded } from '../state/event.ts';
import type { Effect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { commandFiles } from '../supervisor/contract.ts';
import { abandonChecks, abandonMerge } from './check-commit.ts';
import { setupCommandOf } from './furnish-workspace.ts';
import { isDue } from './is-due.ts';
import { killCommand, sweepCommands } from './kill-command.ts';
import { Liveness } from './liveness.ts';
import { mayPass } from './may-pass.ts';
import { forgetNotification } from './notify.ts';
import { failureOf, perform } from './perform.ts';
import { forgetWorkspace } from './prepare-workspace.ts';
import { SessionEnds } from './session-ends.ts';
import { Standings } from './standings.ts';
import { tellAll } from './tell-all.ts';
import { tidy } from './tidy.ts';
import type { World } from './world.ts';

/**
 * Does what a project owes to the outside, and says how it went. It looks at nothing but the list of what is owed: after each commit,
 * and once at the start. What is done twice because a daemon was killed in between is done once all the same: each effect sees to that.
 */
export class Effects {
  readonly #world: World;
  readonly #doing = new Map<string, Doing>();
  readonly #standings: Standings;
  readonly #liveness: Liveness;
  readonly #ends: SessionEnds;
  /** Messages to one agent arrive in the order in which they were sent. */
  readonly #lastTo = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(world: Omit<World, 'onSpawned'>) {
    this.#world = {
      ...world,
      // The runbook may change them: they are asked for anew each time.
      get times() {
        return world.times;
      },
      get sessions() {
        return world.sessions;
      },
      onSpawned: (agentId, { ended }) => void ended.then(() => this.#run(this.#liveness.check(agentId))),
    };
    this.#standings = new Standings(this.#world);
    this.#liveness = new Liveness(this.#world);
    this.#ends = new SessionEnds(this.#world);
  }

  /** Once, when the project is open: what an earlier daemon left is found again. */
  begin(state: State): void {
    const wanted = [...state.effects.values()].flatMap((effect) => commandsOf(effect));
    const wantsCommand = (id: string): boolean => wanted.some((each) => id === each || id.startsWith(`${each}.`));
    tidy({ ...this.#world, wantsCommand, knowsAgent: (id) => state.agents.has(id) });
    this.#run(sweepCommands(wantsCommand, this.#world));
    this.#run(this.#ends.begin(state));
    this.look(state);
  }

  /** What has just become durable. */
  follow(recorded: readonly Recorded[]): void {
    if (!this.#isClosed && recorded.some(({ type }) => type.startsWith('Claim')))
      this.#run(this.#ends.follow(recorded));
  }

  /** With the state as it is durable now. */
  look(state: State): void {
    if (this.#isClosed) return;
    for (const [key, { effect, controller }] of this.#doing) {
      const isWanted = effect.kind !== 'merge' || isDue(effect, state);
      if (isWanted && state.effects.get(key) === effect) continue;
      this.#doing.delete(key);
      controller.abort();
      this.#run(this.#afterwards(effect));
    }
    for (const effect of state.effects.values()) {
      if (!this.#doing.has(effect.key) && isDue(effect, state)) this.#start(effect);
    }
    this.#standings.look(state);
  }

  /** Now and then: whoever was to tell us something may be dead. */
  tick(state: State): void {
    if (this.#isClosed) return;
    this.#liveness.look(state);
    this.#standings.look(state);
  }

  /** Agents and commands go on; the next daemon finds them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { controller } of this.#doing.values()) controller.abort();
    this.#liveness.close();
    await Promise.race([
      Promise.allSettled(this.#running),
      new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref()),
    ]);
  }

  #start(effect: Effect): void {
    const controller = new AbortController();
    this.#doing.set(effect.key, { effect, controller });
    if (effect.kind !== 'send-message') {
      this.#run(this.#do(effect, controller.signal));
      return;
    }
    const before = this.#lastTo.get(effect.agentId);
    const sent = (async () => {
      await before;
      await this.#standings.settled(effect.agentId);
      await this.#do(effect, controller.signal);
    })();
    this.#lastTo.set(effect.agentId, sent);
    this.#run(sent);
    void sent.finally(() => {
      if (this.#lastTo.get(effect.agentId) === sent) this.#lastTo.delete(effect.agentId);
    });
  }

  /** What nothing can be said about yet is tried again, less and less often. */
  async #do(effect: Effect, signal: AbortSignal): Promise<void> {
    let hinderedMs = 0;
    for (let waitMs = RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const commands = await this.#try(effect, signal, hinderedMs);
      // While nothing can be recorded, no failure is: the same full disk may be behind both.
      if (this.#world.isStoreWritable()) hinderedMs += waitMs;
      if (commands.length > 0) return tellAll(commands, this.#world, signal);
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Whatever goes wrong is an outcome, unless it may pass: it must not stop the daemon. */
  async #try(effect: Effect, signal: AbortSignal, hinderedMs: number): Promise<readonly Command[]> {
    try {
      return await perform(effect, this.#world, signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isPassing = mayPass(error, hinderedMs);
      const message = isPassing ? 'an effect failed, and is tried again' : 'an effect failed';
      this.#world.log.error(message, { key: effect.key, reason });
      return isPassing ? [] : failureOf(effect, reason);
    }
  }

  /** It is on record, or was called off: what was kept for the case of a crash goes. */
  async #afterwards(effect: Effect): Promise<void> {
    const { stateDir } = this.#world;
    if (effect.kind === 'notify') forgetNotification(stateDir, effect.notificationId);
    if (effect.kind === 'prepare-workspace') forgetWorkspace(stateDir, effect);
    if (effect.kind === 'run-checks') await abandonChecks(effect.checksId, effect.checks.length, this.#world);
    if (effect.kind === 'merge') await abandonMerge(effect.mergeId, this.#world);
    if (effect.kind === 'start-agent') await this.#stopSetup(effect.agentId);
    if (effect.kind === 'run-command') await killCommand(effect.commandId, 'nobody waits for it any more', this.#world);
  }

  /** The start was called off while its worktree was being set up. */
  async #stopSetup(agentId: string): Promise<void> {
    const id = setupCommandOf(agentId);
    const { folder } = commandFiles(this.#world.stateDir, id);
    if (existsSync(folder)) await killCommand(id, 'nobody waits for it any more', this.#world);
  }

  #run(work: Promise<void>): void {
    const running = work.catch((error: unknown) =>
      this.#world.log.error('an effect failed', { reason: String(error) }),
    );
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }
}

/** The ids of the commands that belong to an effect, or what they begin with. */
function commandsOf(effect: Effect): readonly string[] {
  if (effect.kind === 'start-agent') return [setupCommandOf(effect.agentId)];
  if (effect.kind === 'run-command') return [effect.commandId];
  if (effect.kind === 'run-checks') return [effect.checksId];
  return effect.kind === 'merge' ? [effect.mergeId] : [];
}

interface Doing {
  readonly effect: Effect;
  readonly controller: AbortController;
}

const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** How long the end of the daemon waits for what is being done; all of it can be taken up again. */
const CLOSE_MS = 2000;
