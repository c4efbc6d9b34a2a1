import * as agent from './agents.ts';
import * as supervisor from './agents.ts';
import type { Operation } from './operation.ts';
import * as project from './project.ts';
import * as worktree from './project.ts';
import { costsGet } from './project.ts';
import * as run from './runs.ts';
import { runbookAdopt, runbookRules } from './runs.ts';
import * as exchange from './tasks.ts';
import * as task from './tasks.ts';
import * as decision from './workflow.ts';
import * as workflow from './workflow.ts';
import * as writeback from './writeback.ts';

const DECLARED = {
  costsGet,
  ...task,
  ...exchange,
  ...writeback,
  ...agent,
  ...run,
  runbookAdopt,
  runbookRules,
  ...project,
  ...decision,
  ...supervisor,
  ...workflow,
  ...worktree,
};

type Declared = (typeof DECLARED)[keyof typeof DECLARED];

/** The type of each operation, by its name. */
export type Operations = { readonly [O in Declared as O['name']]: O };

export type OperationName = keyof Operations;
export type InputOf<N extends OperationName> = Operations[N] extends Operation<string, infer I> ? I : never;
export type ResultOf<N extends OperationName> = Operations[N] extends Operation<string, unknown, infer R> ? R : never;

/** Every operation, by its name. */
export const OPERATIONS: ReadonlyMap<string, Operation<OperationName>> = new Map(
  Object.values(DECLARED).map((each) => [each.name, each]),
);
