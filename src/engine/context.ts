import type { ReadyTasks } from '../state/tasks/ready.ts';
import type { Rules } from '../state/rules.ts';
import type { State } from '../state/state.ts';

/** What comes from outside, so that the same arguments always give the same reactions. */
export interface EngineInputs {
  /** An id that was never given before. */
  readonly newId: () => string;
  /** The time that the entries will carry. */
  readonly at: string;
  readonly ready: ReadyTasks;
  readonly rules: Rules;
}

/** What a rule looks at. */
export interface EngineContext extends EngineInputs {
  readonly state: State;
}
