import * as agent from './agents.ts';
import * as supervisor from './agents.ts';
import type { Operation } from './operation.ts';
import * as project from './project.ts';
import * as worktree from './project.ts';
import { costsGet } from './project.ts';
import * as run from './runs.ts';
import * as runbook from './runs.ts';
import * as exchange from './tasks.ts';
import * as task from './tasks.ts';
import * as decision from './workflow.ts';
import * as workflow from './workflow.ts';
import * as writeback from './writeback.ts';

const OPERATION_MODULES = [
  { costsGet },
  task,
  exchange,
  writeback,
  agent,
  run,
  runbook,
  project,
  decision,
  supervisor,
  workflow,
  worktree,
];

/** Every operation, by its name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  OPERATION_MODULES.flatMap((room): Operation[] => Object.values(room)).map((each) => [each.name, each]),
);
