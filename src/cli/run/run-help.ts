import type { CommandArgs } from '../../runbook/command-args.ts';
import { pipelineArgs } from '../../runbook/command-args.ts';
import { isIssue, issueArgs } from '../../runbook/library.ts';
import { readRunbook } from '../../runbook/read/read-runbook.ts';
import { ISSUE_WORKFLOW, type Runbook } from '../../runbook/runbook.ts';
import type { CliCommand, Io, Option } from '../command.ts';
import { renderCommandHelp } from '../help/render-help.ts';
import { findProjectDir } from '../runbook/runbook.ts';

interface Runnable {
  readonly summary: string;
  readonly args: CommandArgs;
}

/**
 * Renders the help of one command of the runbook, with its own arguments before the options of `baton run`; undefined
 * if the runbook has no such command.
 */
export async function renderRunHelp(name: string, command: CliCommand, io: Io): Promise<string | undefined> {
  const runbook = await readProjectRunbook(io);
  const found = runbook === undefined ? undefined : findRunnable(runbook, name);
  if (found === undefined) return undefined;
  const { rest: _, ...form } = command;
  const examples = command.examples.filter((each) => each.startsWith(`baton run ${name} `));
  return renderCommandHelp(
    { name: `run ${name}`, summary: found.summary },
    {
      ...form,
      examples: [`baton run ${name}${exampleOf(found.args)}`, ...examples.slice(name === ISSUE_WORKFLOW ? 1 : 0)],
      args: found.args.positionals.map((each) => ({
        name: each.name,
        about: aboutOf(name, each.name) ?? 'Defined by the runbook',
        optional: !each.required,
      })),
      options: [
        ...found.args.options.map((each) => optionOf(name, each)),
        ...command.options.filter((each) => isFor(name, each)),
      ],
    },
  );
}

/** The names that \`baton run\` takes in this project; none if the runbook has errors. */
export async function listRunnables(io: Io): Promise<string[]> {
  const runbook = await readProjectRunbook(io);
  if (runbook === undefined) return [];
  const workflows = isIssue(runbook, ISSUE_WORKFLOW) ? [ISSUE_WORKFLOW] : [];
  return [...workflows, ...runbook.commands.keys(), ...runbook.pipelines.keys()];
}

export async function listAgents(io: Io): Promise<string[]> {
  return [...((await readProjectRunbook(io))?.agents.keys() ?? [])];
}

async function readProjectRunbook(io: Io): Promise<Runbook | undefined> {
  const project = await findProjectDir({ args: [], options: new Map() }, io);
  const { checked } = await readRunbook(project);
  return checked.ok ? checked.value : undefined;
}

function findRunnable(runbook: Runbook, name: string): Runnable | undefined {
  if (isIssue(runbook, name)) return { summary: 'Take a change from a request to a merge', args: issueArgs() };
  const own = runbook.commands.get(name);
  if (own !== undefined) return { summary: `Run the command ${name} of the runbook`, args: own.args };
  const pipeline = runbook.pipelines.get(name);
  if (pipeline === undefined) return undefined;
  return { summary: `Run the pipeline ${name} of the runbook`, args: pipelineArgs(pipeline) };
}

function exampleOf({ positionals }: CommandArgs): string {
  return positionals.map(({ name }) => (name === 'title' ? ' "Add a login page"' : ` <${name}>`)).join('');
}

function optionOf(command: string, { name, value, required, isList }: CommandArgs['options'][number]): Option {
  return {
    name,
    ...(value === null ? {} : { value: value.toUpperCase() }),
    ...(required ? { needed: true } : {}),
    ...(isList === true ? { isList } : {}),
    about: aboutOf(command, name) ?? 'Defined by the runbook',
  };
}

/** `--follow` takes no name, and `--from-github` only `issue`. */
function isFor(command: string, { name }: Option): boolean {
  return name !== 'follow' && (name !== 'from-github' || command === ISSUE_WORKFLOW);
}

function aboutOf(command: string, name: string): string | undefined {
  return command === ISSUE_WORKFLOW ? ISSUE_ABOUT[name] : undefined;
}

const ISSUE_ABOUT: Readonly<Record<string, string>> = {
  title: 'What is to be done; a task with this title is added',
  task: 'Existing tasks instead of a new one, separated by commas',
  mode: 'How often you are asked: autonomous (default), semi or supervised',
  priority: 'Higher numbers come first (default: 0)',
  id: 'The id of the new task (default: the next free one)',
  after: 'Tasks that must be done first, separated by commas',
};
