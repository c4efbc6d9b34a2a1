import type { RecordedEvent } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import { measureSession } from './measure-session.ts';
import type { EffectContext } from '../context.ts';

/**
 * Measures the sessions that ended without an exit signal: whoever comes next, and whoever looks at what went wrong, learns what is
 * really there. Sessions that sent a signal were measured before it was answered.
 */
export class SessionMeasuring {
  readonly #world: Pick<EffectContext, 'readState' | 'submit' | 'path' | 'stateDir' | 'ownRepository'>;

  constructor(world: Pick<EffectContext, 'readState' | 'submit' | 'path' | 'stateDir' | 'ownRepository'>) {
    this.#world = world;
  }

  /** What an earlier daemon did not come to. */
  async recover(state: State): Promise<void> {
    const unmeasured: string[] = [];
    for (const { claim, endings } of state.tasks.values()) {
      const last = state.sessions.get(endings.at(-1)?.sessionId ?? '');
      if (claim === null && last?.prepared !== undefined && last.measured !== true) unmeasured.push(last.id);
    }
    for (const id of unmeasured) await this.measure(id);
  }

  async onRecorded(recorded: readonly RecordedEvent[]): Promise<void> {
    for (const { type, data } of recorded) {
      if (type.startsWith('Claim') && 'session_id' in data) await this.measure(data.session_id);
    }
  }

  async measure(sessionId: string): Promise<void> {
    const found = await this.#world.readState((state) => {
      const session = state.sessions.get(sessionId);
      const { prepared, measured, taskId, epoch, result } = session ?? {};
      const isNewest = state.tasks.get(taskId ?? '')?.epoch === epoch;
      if (prepared === undefined || measured === true || !isNewest || prepared.workspace === this.#world.path)
        return undefined;
      const timedOut = [...state.agents.values()].some(
        ({ task, exit }) => task?.session_id === sessionId && exit?.timedOut === true,
      );
      return { prepared, result: result ?? null, timedOut };
    });
    if (found === undefined) return;
    const { prepared, result, timedOut } = found;
    const { measured, violations } = await measureSession(prepared, result, this.#world);
    if (measured === undefined) return;
    const tooLong = timedOut ? [`timeout: ended after ${prepared.mission.timeout ?? 0} seconds`] : [];
    const broken = timedOut ? [...measured.broken, 'timeout' as const] : measured.broken;
    await this.#world.submit({
      kind: 'measure-session',
      command: { sessionId, measured: { ...measured, broken }, violations: [...violations, ...tooLong] },
    });
  }
}
