import * as agent from './agents.ts';
import { costsGet } from './cost-operations.ts';
import * as decision from './decision-operations.ts';
import * as exchange from './exchange-operations.ts';
import type { Operation } from './operation.ts';
import * as project from './project.ts';
import * as run from './runs.ts';
import * as runbook from './runbook-operations.ts';
import * as supervisor from './supervisor-operations.ts';
import * as task from './tasks.ts';
import * as workflow from './workflow.ts';
import * as worktree from './worktree-operations.ts';
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
