import type { State } from './state.ts';

/** A claim is held, or an agent runs: somebody other than the operator may be writing files of the project. */
export function hasSessions({ tasks, agents }: Pick<State, 'tasks' | 'agents'>): boolean {
  return (
    [...tasks.values()].some(({ claim }) => claim !== null) ||
    [...agents.values()].some(({ process }) => process === 'running')
  );
}
