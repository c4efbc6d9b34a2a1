import * as agent from './agent-operations.ts';
import type { Operation } from './operation.ts';
import * as task from './task-operations.ts';
import * as writeback from './writeback-operations.ts';

/** Every operation, by its name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [...Object.values(task), ...Object.values(writeback), ...Object.values(agent)].map((each) => [each.name, each]),
);
