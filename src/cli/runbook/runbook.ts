import { relative, resolve } from 'node:path';
import { findRepository } from '../../git/repository.ts';
import { checkPromptFiles } from '../../runbook/check/check-files.ts';
import { pipelineArgs } from '../../runbook/command-args.ts';
import { describeSecrets } from '../../runbook/describe-secrets.ts';
import { isIssue, issueArgs, issueRolePlayers } from '../../runbook/library.ts';
import { renderCommandUsage } from '../../runbook/parse-command-args.ts';
import { readRunbook, type ReadRunbook, readRunbookFiles } from '../../runbook/read/read-runbook.ts';
import {
  checksAnswerOf,
  describeChecks,
  describeSelection,
  ISSUE_WORKFLOW,
  type Runbook,
  type WorkerRun,
} from '../../runbook/runbook.ts';
import { flag, list, object, text } from '../../protocol/shape/build-shape.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { problemShape } from '../json-output.ts';
import { renderProblem, reportProblem } from '../problems.ts';
import { printable } from '../text.ts';

export const runbookCheckCommand: CliCommand = {
  examples: ['baton runbook check', 'baton runbook check review.yaml --json'],
  args: [],
  rest: { name: 'FILE', about: 'Files to check as one runbook (default: those of the project)' },
  options: [PROJECT_OPTION, JSON_OPTION],
  json: [
    {
      shape: object({
        valid: flag,
        problems: list(problemShape),
        notes: { ...list(text), about: 'What you should know although it is no error.' },
      }),
    },
  ],
  exitCodes: { 0: 'valid', 1: 'not valid, or not readable', 2: 'usage error' },
  async run(given, io) {
    const project = await findProjectDir(given, io);
    const named = given.args.map((path) => relative(project, resolve(io.cwd, path)));
    const read = named.length > 0 ? readRunbookFiles(project, named) : await readRunbook(project);
    const prompts = read.checked.ok ? checkPromptFiles(project, read) : undefined;
    const problems = read.checked.ok ? (prompts?.problems ?? []) : read.checked.problems;
    const files = [...read.files, ...(prompts?.files ?? [])];
    if (given.options.has('json'))
      io.out(`${JSON.stringify({ valid: problems.length === 0, problems, notes: notesOn(read) })}\n`);
    else if (problems.length === 0 && read.checked.ok) {
      io.out(`${renderSummary(read.checked.value, read)}\n`);
      for (const note of notesOn(read)) io.out(`note: ${note}\n`);
    }
    for (const problem of given.options.has('json') ? [] : problems) {
      const source = files.find(({ path }) => path === problem.file)?.text ?? '';
      io.err(renderProblem(problem, problem.file, source, io));
    }
    return problems.length === 0 ? EXIT.ok : EXIT.failed;
  },
};

const named = { name: text, usage: { ...text, about: 'The command that starts it.' } };
const listed = object({
  workflows: {
    ...list(
      object({
        ...named,
        shipped: { ...flag, about: 'It is a part of Baton.' },
        roles: list(object({ role: text, runs: { ...text, about: 'The agent or pipeline of the role.' } })),
      }),
    ),
    about: 'The built-in workflows; the runbook need not define them.',
  },
  commands: {
    ...list(object({ ...named, runs: { ...text, about: 'What it starts.' } })),
    about: 'The commands of the runbook.',
  },
  pipelines: list(object({ ...named, steps: { ...list(text), about: 'The names of its steps.' } })),
  agents: list(object({ ...named, runs: { ...text, about: 'Its program.' } })),
  workers: list(
    object({
      name: text,
      takes: { ...text, about: 'Which tasks it takes.' },
      runs: { ...text, about: 'What it starts for a task.' },
    }),
  ),
});
type Listed = ValueOf<typeof listed>;

export const runbookListCommand: CliCommand = {
  examples: ['baton runbook list'],
  args: [],
  options: [PROJECT_OPTION, JSON_OPTION],
  json: [{ shape: listed }],
  async run(given, io) {
    const { checked } = await readRunbook(await findProjectDir(given, io));
    if (!checked.ok) {
      const [{ code, file, line, column, message }] = checked.problems;
      const place = line === null ? file : `${file}:${line}:${column}`;
      const said = `the runbook is not valid: ${place}: ${message}`;
      return reportProblem({ code, message: said, hint: 'See everything: baton runbook check' }, io);
    }
    if (given.options.has('json')) io.out(`${JSON.stringify(listRunbook(checked.value))}\n`);
    else io.out(renderRunbook(checked.value));
    return EXIT.ok;
  },
};

/** The root of the repository, or the folder itself if there is none. */
export async function findProjectDir({ options }: ParsedArguments, io: Io): Promise<string> {
  const folder = resolve(io.cwd, options.get('project') ?? '.');
  const repository = await findRepository(folder);
  return repository.ok ? repository.value.top : folder;
}

function renderSummary(runbook: Runbook, { files }: ReadRunbook): string {
  if (files.length === 0) return 'There is no runbook: no baton.toml, and no file in .baton/runbooks.';
  const counts = (['agents', 'pipelines', 'commands', 'workers'] as const).map((section) =>
    counted(runbook[section].size, section),
  );
  return `${files.map(({ path }) => path).join(', ')}: valid (${counts.join(', ')})`;
}

function notesOn({ checked }: ReadRunbook): readonly string[] {
  if (!checked.ok) return [];
  const answer = checksAnswerOf(checked.value, false);
  return [...(answer === 'checked' ? [] : [describeChecks(answer)]), ...describeSecrets(checked.value)];
}

function counted(count: number, plural: string): string {
  return `${count} ${count === 1 ? plural.slice(0, -1) : plural}`;
}

function listRunbook(runbook: Runbook): Listed {
  const all = <T>(definitions: ReadonlyMap<string, T>): readonly T[] => [...definitions.values()];
  return {
    workflows: isIssue(runbook, ISSUE_WORKFLOW) ? [shippedIssue(runbook)] : [],
    commands: all(runbook.commands).map((each) => ({
      name: each.name,
      usage: renderCommandUsage(each),
      runs: renderRunTarget(each.run),
    })),
    pipelines: all(runbook.pipelines).map((each) => ({
      name: each.name,
      // A command of the same name hides the pipeline.
      usage: runbook.commands.has(each.name)
        ? each.name
        : renderCommandUsage({ name: each.name, args: pipelineArgs(each) }),
      steps: each.steps.map(({ name }) => name),
    })),
    agents: all(runbook.agents).map(({ name, run }) => ({ name, usage: `baton agent run ${name}`, runs: run })),
    workers: all(runbook.workers).map(({ name, run, ...selects }) => ({
      name,
      takes: describeSelection(selects),
      runs: renderRunTarget(run),
    })),
  };
}

function shippedIssue(runbook: Runbook): Listed['workflows'][number] {
  const players = Map.groupBy(issueRolePlayers(runbook), ({ role }) => role);
  const roles = [...players].map(([role, all]) => ({ role, runs: all.map(({ run }) => run).join(' or ') }));
  return {
    name: ISSUE_WORKFLOW,
    usage: renderCommandUsage({ name: ISSUE_WORKFLOW, args: issueArgs() }),
    shipped: true,
    roles,
  };
}

function renderRunTarget(run: WorkerRun): string {
  if (run.kind === 'shell') return run.command;
  if (run.kind === 'workflow') return `workflow ${run.workflow}${run.mode === undefined ? '' : ` (${run.mode})`}`;
  return run.kind === 'agent' ? `agent ${run.agent}` : `pipeline ${run.pipeline}`;
}

function renderRunbook(runbook: Runbook): string {
  const { workflows, commands, pipelines, agents, workers } = listRunbook(runbook);
  const sections: Record<string, readonly (readonly [string, string])[]> = {
    Commands: commands.map(({ usage, runs }) => [usage, runs]),
    Pipelines: pipelines.map(({ usage, steps }) => [usage, steps.join(' → ')]),
    Agents: agents.map(({ usage, runs }) => [usage, runs]),
    Workers: workers.map(({ name, takes, runs }) => [name, `${takes}: ${runs}`]),
    'Workflows, shipped with Baton': workflows.map(({ usage, roles }) => [
      usage,
      roles.map(({ role, runs }) => `${role} (${runs})`).join(' → '),
    ]),
  };
  const shown = Object.entries(sections).filter(([, rows]) => rows.length > 0);
  return shown.map(([title, rows]) => renderSection(title, rows)).join('\n');
}

function renderSection(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `  ${printable(left.padEnd(width))}  ${firstLine(right)}`);
  return `${[`${title}:`, ...lines].join('\n')}\n`;
}

function firstLine(text: string): string {
  const [line = '', ...more] = text.split('\n');
  return printable(more.length === 0 ? line : `${line} …`);
}
