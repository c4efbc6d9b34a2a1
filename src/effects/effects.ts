import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '../state/decide.ts';
import type { RecordedEvent } from '../state/event.ts';
import { type Effect, isStartEffect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { commandFiles } from '../supervisor/contract.ts';
import { Liveness } from './agents/liveness.ts';
import { StandingPush } from './agents/messages.ts';
import type { EffectContext } from './context.ts';
import { isDue, isTransient } from './due.ts';
import { abandonChecks, abandonMerge } from './merges/checks.ts';
import { removeNotificationMarks } from './notify.ts';
import { failureCommands, performEffect, submitAll } from './perform.ts';
import { killCommand, killUnwantedCommands } from './processes/command.ts';
import { SessionMeasuring } from './sessions/measure-session.ts';
import { removeWorkspaceMark, setupCommandOf } from './sessions/workspace.ts';
import { removeOldRunFolders } from './tidy.ts';

/**
 * Does what a project owes to the outside, and says how it went. It looks at nothing but the list of what is owed: after each commit,
 * and once at the start. What is done twice because a daemon was killed in between is done once all the same: each effect sees to that.
 */
export class Effects {
  readonly #world: EffectContext;
  readonly #inProgress = new Map<string, RunningEffect>();
  readonly #standings: StandingPush;
  readonly #liveness: Liveness;
  readonly #ends: SessionMeasuring;
  /** Messages to one agent arrive in the order in which they were sent. */
  readonly #lastTo = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(world: Omit<EffectContext, 'onSpawned'>) {
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
    this.#standings = new StandingPush(this.#world);
    this.#liveness = new Liveness(this.#world);
    this.#ends = new SessionMeasuring(this.#world);
  }

  /** Once, when the project is open: what an earlier daemon left is found again. */
  recover(state: State): void {
    const wanted = [...state.effects.values()].flatMap((effect) => commandsOf(effect));
    const wantsCommand = (id: string): boolean => wanted.some((each) => id === each || id.startsWith(`${each}.`));
    removeOldRunFolders({ ...this.#world, wantsCommand, knowsAgent: (id) => state.agents.has(id) });
    this.#run(killUnwantedCommands(wantsCommand, this.#world));
    this.#run(this.#ends.recover(state));
    this.reconcile(state);
  }

  /** What has just become durable. */
  onRecorded(recorded: readonly RecordedEvent[]): void {
    if (!this.#isClosed && recorded.some(({ type }) => type.startsWith('Claim')))
      this.#run(this.#ends.onRecorded(recorded));
  }

  /** With the state as it is durable now. */
  reconcile(state: State): void {
    if (this.#isClosed) return;
    for (const [key, { effect, controller }] of this.#inProgress) {
      const isWanted = effect.type !== 'MergeRequested' || isDue(effect, state);
      if (isWanted && state.effects.get(key) === effect) continue;
      this.#inProgress.delete(key);
      controller.abort();
      this.#run(this.#cleanUp(effect));
    }
    for (const effect of state.effects.values()) {
      if (!this.#inProgress.has(effect.key) && isDue(effect, state)) this.#start(effect);
    }
    this.#standings.reconcile(state);
  }

  /** Now and then: whoever was to tell us something may be dead. */
  tick(state: State): void {
    if (this.#isClosed) return;
    this.#liveness.reconcile(state);
    this.#standings.reconcile(state);
  }

  /** Agents and commands go on; the next daemon finds them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { controller } of this.#inProgress.values()) controller.abort();
    this.#liveness.close();
    await Promise.race([
      Promise.allSettled(this.#running),
      new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref()),
    ]);
  }

  #start(effect: Effect): void {
    const controller = new AbortController();
    this.#inProgress.set(effect.key, { effect, controller });
    if (effect.type !== 'MessageRequested') {
      this.#run(this.#performUntilDone(effect, controller.signal));
      return;
    }
    const { agent_id } = effect.data;
    const before = this.#lastTo.get(agent_id);
    const sent = (async () => {
      await before;
      await this.#standings.untilDelivered(agent_id);
      await this.#performUntilDone(effect, controller.signal);
    })();
    this.#lastTo.set(agent_id, sent);
    this.#run(sent);
    void sent.finally(() => {
      if (this.#lastTo.get(agent_id) === sent) this.#lastTo.delete(agent_id);
    });
  }

  /** What nothing can be said about yet is tried again, less and less often. */
  async #performUntilDone(effect: Effect, signal: AbortSignal): Promise<void> {
    let hinderedMs = 0;
    for (let waitMs = RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const commands = await this.#tryPerform(effect, signal, hinderedMs);
      // While nothing can be recorded, no failure is: the same full disk may be behind both.
      if (this.#world.isStoreWritable()) hinderedMs += waitMs;
      if (commands.length > 0) return submitAll(commands, this.#world, signal);
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Whatever goes wrong is an outcome, unless it may pass: it must not stop the daemon. */
  async #tryPerform(effect: Effect, signal: AbortSignal, hinderedMs: number): Promise<readonly Command[]> {
    try {
      return await performEffect(effect, this.#world, signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isPassing = isTransient(error, hinderedMs);
      const message = isPassing ? 'an effect failed, and is tried again' : 'an effect failed';
      this.#world.log.error(message, { key: effect.key, reason });
      return isPassing ? [] : failureCommands(effect, reason);
    }
  }

  /** It is on record, or was called off: what was kept for the case of a crash goes. */
  async #cleanUp(effect: Effect): Promise<void> {
    const { stateDir } = this.#world;
    const { type, data } = effect;
    if (type === 'NotificationRequested') removeNotificationMarks(stateDir, data.notification_id);
    if (type === 'WorkspaceRequested') removeWorkspaceMark(stateDir, data);
    if (type === 'ChecksRequested') await abandonChecks(data, this.#world);
    if (type === 'MergeRequested') await abandonMerge(data.merge_id, this.#world);
    if (isStartEffect(effect)) await this.#stopSetup(effect.data.agent_id);
    if (type === 'CommandRequested') await killCommand(data.command_id, 'nobody waits for it any more', this.#world);
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
  const { type, data } = effect;
  if (isStartEffect(effect)) return [setupCommandOf(effect.data.agent_id)];
  if (type === 'CommandRequested') return [data.command_id];
  if (type === 'ChecksRequested') return [data.checks_id];
  return type === 'MergeRequested' ? [data.merge_id] : [];
}

interface RunningEffect {
  readonly effect: Effect;
  readonly controller: AbortController;
}

const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** How long the end of the daemon waits for what is being done; all of it can be taken up again. */
const CLOSE_MS = 2000;
