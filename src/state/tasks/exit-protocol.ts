import type { Task } from './task.ts';

/**
 * Whether the sessions of a task end with an exit signal. Sessions of the built-in workflow always do, because its roles are told to send
 * one; for all others the project's flag decides.
 */
export function usesExitProtocol(task: Pick<Task, 'flow'> | undefined, flag: boolean): boolean {
  return flag || (task !== undefined && task.flow.mode !== null);
}
