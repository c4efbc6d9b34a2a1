import * as agentLogs from './agent-log.ts';
import * as agents from './agents.ts';
import * as fleet from './fleet.ts';
import * as imports from './import.ts';
import * as ledger from './ledger.ts';
import * as operateTasks from './operate-tasks.ts';
import type { Operation } from './operation.ts';
import * as pages from './pages.ts';
import * as project from './project.ts';
import * as rules from './rules.ts';
import * as runWaits from './run-wait.ts';
import * as runs from './runs.ts';
import * as taskView from './task-view.ts';
import * as taskWork from './task-work.ts';
import * as tasks from './tasks.ts';
import * as workflow from './workflow.ts';
import * as writeback from './writeback.ts';

/** The declarations by subject, which is how the OpenAPI document groups them. */
const GROUPS = {
  tasks: { ...tasks, ...operateTasks, ...taskView, ...taskWork, ...imports },
  records: writeback,
  agents: { ...agents, ...agentLogs },
  runs: { ...rules, ...runs },
  waits: runWaits,
  project,
  pages,
  workflow,
  fleet,
  ledger,
};

/** All exports of the declaration files. Those that are no operations are shapes that results share. */
const EXPORTS = {
  ...GROUPS.tasks,
  ...GROUPS.records,
  ...GROUPS.agents,
  ...GROUPS.runs,
  ...GROUPS.waits,
  ...GROUPS.project,
  ...GROUPS.pages,
  ...GROUPS.workflow,
  ...GROUPS.fleet,
  ...GROUPS.ledger,
};
type Declared = Extract<(typeof EXPORTS)[keyof typeof EXPORTS], { readonly access: unknown }>;
type Operations = { readonly [O in Declared as O['name']]: O };
export type OperationName = keyof Operations;
export type FolderOperationName = Extract<Declared, { readonly scope: 'state-folder' }>['name'];
/** The operations of one project, which the request names. */
export type ProjectOperationName = Exclude<OperationName, FolderOperationName>;
export type InputOf<N extends OperationName> = Operations[N] extends Operation<string, infer I> ? I : never;
export type ResultOf<N extends OperationName> = Operations[N] extends Operation<string, unknown, infer R> ? R : never;

export const OPERATIONS: ReadonlyMap<string, Operation<OperationName>> = new Map(
  Object.values(EXPORTS)
    .filter((each): each is Declared => 'access' in each)
    .map((each) => [each.name, each]),
);

export function isOfProject(operation: Operation<OperationName>): operation is Operation<ProjectOperationName> {
  return operation.scope === undefined;
}

/** The subject of an operation: `tasks`, `runs`, … */
export function groupOf(operation: Operation): string {
  const found = Object.entries(GROUPS).find(([, group]) => Object.values<unknown>(group).includes(operation));
  return found?.[0] ?? operation.name;
}
