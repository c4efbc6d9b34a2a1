import { join } from 'node:path';
import { type CommandArgs, parseArgsDefinition } from './command-args.ts';
import { readRunbookFiles } from './read/read-runbook.ts';
import { ISSUE_WORKFLOW, type Runbook } from './runbook.ts';

export const LIBRARY_FOLDER = join(import.meta.dirname, '..', '..', 'runbooks');

const PREFIX = 'baton:';

let shipped: Runbook | undefined;

/** Adds the built-in definitions; a project's definition of the same name takes precedence. */
export function withLibrary(runbook: Runbook): Runbook {
  const { agents, workers } = (shipped ??= readLibrary());
  return {
    ...runbook,
    agents: new Map([...agents, ...runbook.agents]),
    workers: new Map([...workers, ...runbook.workers]),
  };
}

function readLibrary(): Runbook {
  const { checked } = readRunbookFiles(LIBRARY_FOLDER, ['issue.toml']);
  if (!checked.ok) throw new Error(`the built-in workflow is broken: ${checked.problems[0].message}`);
  return checked.value;
}

/** The path of a prompt file: `baton:…` is built in, others are relative to the project. */
export function resolvePromptPath(projectDir: string, promptFile: string): string {
  return promptFile.startsWith(PREFIX)
    ? join(LIBRARY_FOLDER, promptFile.slice(PREFIX.length))
    : join(projectDir, promptFile);
}

export function isIssue({ agents, commands, pipelines }: Runbook, name: string): boolean {
  return (
    name === ISSUE_WORKFLOW && ![agents, commands, pipelines].some((definitions) => definitions.has(ISSUE_WORKFLOW))
  );
}

export function issueArgs(): CommandArgs {
  const args = parseArgsDefinition(
    '[title] [--task <ids>] [--mode <mode>] [--priority <n>] [--id <id>] [--after <ids>]',
  );
  if ('what' in args) throw new Error(args.what);
  const isList = (name: string): boolean => name === 'task' || name === 'after';
  return {
    ...args,
    options: args.options.map((option) => (isList(option.name) ? { ...option, isList: true } : option)),
  };
}

export interface RolePlayer {
  readonly role: string;
  readonly agent: string;
  readonly run: string;
}

export function issueRolePlayers(runbook: Runbook): readonly RolePlayer[] {
  const { agents, workers } = withLibrary(runbook);
  const players = [...workers.values()].flatMap(({ roles = [], run }) => {
    if (run.kind === 'workflow') return [];
    const agent = run.kind === 'agent' ? agents.get(run.agent) : undefined;
    const what = run.kind === 'pipeline' ? `pipeline ${run.pipeline}` : run.kind === 'shell' ? run.command : '';
    return roles.map((role) => ({ role, agent: agent?.name ?? run.kind, run: agent?.run ?? what }));
  });
  const turns = runbook.workflow.roles.filter(({ name }) => name !== 'ci-gate').map(({ name }) => name);
  return turns.flatMap((role) => players.filter((player) => player.role === role));
}
