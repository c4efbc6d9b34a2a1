import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from '../state/decide.ts';
import type { RecordedEvent } from '../state/event.ts';
import { effectOwner, isMine } from '../state/fleet/owner.ts';
import { type Effect, isStartEffect } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import { commandFiles } from '../supervisor/contract.ts';
import { endRemovedAgents, isRemoval } from './agents/end-removed.ts';
import { Liveness } from './agents/liveness.ts';
import { StandingPush } from './agents/messages.ts';
import type { EffectContext } from './context.ts';
import { isDue, isTransient, judgeBegun } from './due.ts';
import { abandonChecks, abandonCommits } from './merges/checks.ts';
import { JudgeChecks } from './merges/judge-checks.ts';
import { removeNotificationMarks } from './notify.ts';
import { outcomeTerm } from './outcome-term.ts';
import { failureCommands, performEffect, submitAll } from './perform.ts';
import { killCommand, killUnwantedCommands } from './processes/command.ts';
import { SessionMeasuring } from './sessions/measure-session.ts';
import { removeWorkspaceMark, setupCommandOf } from './sessions/workspace.ts';
import { removeOldRunFolders } from './tidy.ts';
import { Travel } from './travel/travel.ts';

/**
 * Performs the effects that a project owes, and records their outcomes. It reads only `state.effects`: after each
 * commit, and once at the start. Each effect is performed once, even if a daemon is killed and the next one retries.
 */
export class Effects {
  readonly #context: EffectContext;
  readonly #inProgress = new Map<string, { readonly effect: Effect; readonly controller: AbortController }>();
  /**
   * Effects that started here and now belong to another host. They keep running, as when a daemon stops, because this
   * host may get them back.
   */
  readonly #handedOver = new Map<string, Effect>();
  readonly #standings: StandingPush;
  readonly #liveness: Liveness;
  readonly #ends: SessionMeasuring;
  readonly #travel: Travel;
  /** The checks that judging sessions run. They record nothing, so they are no effects. */
  readonly judgeChecks: JudgeChecks;
  /** The last delivery to each agent, so that messages arrive in the order in which they were sent. */
  readonly #lastTo = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** How many runs have ended since folders of old runs were removed. */
  #endedRuns = 0;
  #isClosed = false;

  /** Takes a function, because a copy of the context would freeze the settings that are read on each use. */
  constructor(createContext: (onSpawned: EffectContext['onSpawned']) => EffectContext) {
    this.#context = createContext(
      (agentId, { ended }) => void ended.then(() => this.#run(this.#liveness.check(agentId))),
    );
    this.#standings = new StandingPush(this.#context);
    this.#liveness = new Liveness(this.#context);
    this.#ends = new SessionMeasuring(this.#context);
    this.#travel = new Travel(this.#context);
    this.judgeChecks = new JudgeChecks(this.#context);
  }

  /** Called once when the project is open. Finds what an earlier daemon left running. */
  recover(state: State): void {
    this.#run(killUnwantedCommands(this.#tidy(state), this.#context));
    this.#run(this.#ends.recover(state));
    this.#run(this.judgeChecks.recover());
    this.#travel.tick(state);
    this.reconcile(state);
  }

  /** Removes folders of runs that nothing needs any more. Returns which commands are still wanted. */
  #tidy(state: State): (id: string) => boolean {
    this.#endedRuns = 0;
    const wanted = [...state.effects.values()].flatMap((effect) => commandsOf(effect));
    const wantsCommand = (id: string): boolean => wanted.some((each) => id === each || id.startsWith(`${each}.`));
    removeOldRunFolders({ ...this.#context, wantsCommand, knowsAgent: (id) => state.agents.has(id) });
    return wantsCommand;
  }

  onRecorded(recorded: readonly RecordedEvent[]): void {
    if (this.#isClosed) return;
    this.#endedRuns += recorded.filter(({ type }) => type === 'AgentEnded' || type === 'CommandFinished').length;
    if (recorded.some(({ type }) => type.startsWith('Claim'))) this.#run(this.#ends.onRecorded(recorded));
    this.#travel.onRecorded(recorded);
    if (isRemoval(recorded, this.#context.here()?.host))
      this.#run(endRemovedAgents(this.#context, this.#closing.signal));
  }

  /** What must happen before these entries are recorded; see `TravelPush.holdBack`. */
  holdBack(recorded: readonly RecordedEvent[]): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#travel.holdBack(recorded);
  }

  reconcile(state: State): void {
    if (this.#isClosed) return;
    this.judgeChecks.reconcile(state);
    const here = this.#context.here();
    for (const [key, { effect, controller }] of this.#inProgress) {
      const owed = judgeBegun(effect, state, here);
      if (owed === 'here') continue;
      this.#inProgress.delete(key);
      controller.abort();
      if (owed === 'elsewhere') this.#handedOver.set(key, effect);
      else this.#run(this.#cleanUp(effect));
    }
    for (const [key, effect] of this.#handedOver) {
      if (judgeBegun(effect, state, here) !== 'nowhere') continue;
      this.#handedOver.delete(key);
      this.#run(this.#cleanUp(effect));
    }
    for (const effect of state.effects.values()) {
      if (!this.#inProgress.has(effect.key) && isMine(effect, state, here) && isDue(effect, state))
        this.#start(effect, effectOwner(effect, state) === 'caretaker' ? here?.term : undefined);
    }
    this.#standings.reconcile(state);
  }

  /** Called regularly, because a supervisor that should report may be dead. */
  tick(state: State): void {
    if (this.#isClosed) return;
    this.#liveness.reconcile(state);
    this.#standings.reconcile(state);
    this.#travel.tick(state);
    if (this.#endedRuns >= TIDY_AFTER_RUNS) this.#tidy(state);
  }

  /** Agents and commands keep running, and the next daemon finds them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort();
    for (const { controller } of this.#inProgress.values()) controller.abort();
    this.#liveness.close();
    await Promise.race([
      Promise.allSettled([...this.#running, this.#travel.close(), this.judgeChecks.close()]),
      new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref()),
    ]);
  }

  /** `term`: the caretaker's term if the effect belongs to the caretaker. */
  #start(effect: Effect, term: number | undefined): void {
    const controller = new AbortController();
    this.#handedOver.delete(effect.key);
    this.#inProgress.set(effect.key, { effect, controller });
    if (effect.type !== 'MessageRequested') {
      this.#run(this.#performUntilDone(effect, this.#contextFor(term, controller.signal), controller.signal));
      return;
    }
    const { agent_id } = effect.data;
    const before = this.#lastTo.get(agent_id);
    const sent = (async () => {
      await before;
      await this.#standings.untilDelivered(agent_id);
      await this.#performUntilDone(effect, this.#context, controller.signal);
    })();
    this.#lastTo.set(agent_id, sent);
    this.#run(sent);
    void sent.finally(() => {
      if (this.#lastTo.get(agent_id) === sent) this.#lastTo.delete(agent_id);
    });
  }

  /** Retries with growing delays until there is an outcome to record. */
  async #performUntilDone(effect: Effect, context: EffectContext, signal: AbortSignal): Promise<void> {
    let hinderedMs = 0;
    for (let waitMs = 1000; !signal.aborted; waitMs = Math.min(waitMs * 2, 60_000)) {
      const commands = await this.#tryPerform(effect, context, signal, hinderedMs);
      // Time in which nothing can be recorded does not count: a full disk may cause both failures.
      if (this.#context.isStoreWritable()) hinderedMs += waitMs;
      if (commands.length > 0) return submitAll(commands, context, signal);
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Turns a failure into an outcome unless it is transient. It must not stop the daemon. */
  async #tryPerform(
    effect: Effect,
    context: EffectContext,
    signal: AbortSignal,
    hinderedMs: number,
  ): Promise<readonly Command[]> {
    try {
      return await performEffect(effect, context, signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isPassing = isTransient(error, hinderedMs);
      const message = isPassing ? 'an effect failed and will be retried' : 'an effect failed';
      this.#context.log.error(message, { key: effect.key, reason });
      return isPassing ? [] : failureCommands(effect, reason);
    }
  }

  /** Adds the term to everything that an effect of the caretaker records; see `outcomeTerm`. */
  #contextFor(term: number | undefined, signal: AbortSignal): EffectContext {
    if (term === undefined) return this.#context;
    const submit: EffectContext['submit'] = async (command) =>
      this.#context.submit(command, outcomeTerm(term, this.#context.here(), signal));
    // The context's getters are inherited.
    return Object.create(this.#context, { submit: { value: submit } }) as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** Removes files that an effect kept in case of a crash. */
  async #cleanUp(effect: Effect): Promise<void> {
    const { stateDir } = this.#context;
    const { type, data } = effect;
    if (type === 'NotificationRequested') removeNotificationMarks(stateDir, data.notification_id);
    if (type === 'WorkspaceRequested') removeWorkspaceMark(stateDir, data);
    if (type === 'ChecksRequested') await abandonChecks(data, this.#context);
    if (type === 'MergeRequested') await abandonCommits(data.merge_id, this.#context);
    if (isStartEffect(effect)) await this.#stopSetup(effect.data.agent_id);
    if (type === 'CommandRequested')
      await killCommand(data.command_id, 'its result is no longer needed', this.#context);
  }

  async #stopSetup(agentId: string): Promise<void> {
    const id = setupCommandOf(agentId);
    const { folder } = commandFiles(this.#context.stateDir, id);
    if (existsSync(folder)) await killCommand(id, 'its result is no longer needed', this.#context);
  }

  #run(work: Promise<void>): void {
    const running = work.catch((error: unknown) =>
      this.#context.log.error('an effect failed', { reason: String(error) }),
    );
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }
}

function commandsOf(effect: Effect): readonly string[] {
  const { type, data } = effect;
  if (isStartEffect(effect)) return [setupCommandOf(effect.data.agent_id)];
  if (type === 'CommandRequested') return [data.command_id];
  if (type === 'ChecksRequested') return [data.checks_id];
  return type === 'MergeRequested' ? [data.merge_id] : [];
}

/** How long a stopping daemon waits for running effects. The next daemon resumes all of them. */
/** Old folders are removed after so many runs, so that a daemon that runs for months does not fill the disk. */
const TIDY_AFTER_RUNS = 50;

const CLOSE_MS = 2000;
