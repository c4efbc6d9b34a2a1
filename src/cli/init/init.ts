import { join, resolve } from 'node:path';
import { findStateDir } from '../../api/state-folder.ts';
import { git } from '../../git/run-git.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import { listClients } from '../../agents/capabilities/clients.ts';
import { didYouMean } from '../../protocol/shape/problem.ts';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import { surveySandboxes } from '../../sandbox/survey.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments, type UsageError } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION, reportError } from '../operation-command.ts';
import { describeFileError } from '../problems.ts';
import { findChoice, findInstalledAgents, SCRIPTED } from './agents.ts';
import { chooseAnswers } from './answers.ts';
import { findBranch } from './branch.ts';
import { findProject } from './detect/project.ts';
import { type DryRun, runDry } from './dry-run/dry-run.ts';
import { findExisting } from './existing.ts';
import { readListing } from './listing.ts';
import type { WrittenFile } from '../../api/init-record.ts';
import { belowSessionError, findSessionAbove } from '../../api/session-above.ts';
import { InitRecord, pathFrom, ROOT_FILE } from './record.ts';
import { renderRunbook, type RunbookSettings } from './render-runbook.ts';
import {
  describeUnready,
  nextCommands,
  type Found,
  renderDryRun,
  renderFound,
  renderNext,
  renderWritten,
  resultOf,
} from './report.ts';
import { initResult, undoResult } from './result-shape.ts';
import { undoInit } from './undo.ts';

const DRY_RUN_MS = 300_000;

export const initCommand: CliCommand = {
  examples: ['baton init', 'baton init --yes', 'baton init --agent codex --check "make test"', 'baton init --undo'],
  args: [],
  options: [
    { name: 'yes', short: 'y', about: 'Ask nothing: take the recommended answers' },
    { name: 'undo', about: 'Remove what init wrote, unless it was edited since' },
    {
      name: 'agent',
      value: 'CLIENT',
      about: 'The client that plays the roles, as in `baton agent clients`, or `scripted`',
    },
    {
      name: 'check',
      value: 'COMMAND',
      about: 'A command that must pass before a merge, instead of the commands that are found',
    },
    { name: 'no-dry-run', about: 'Only check the file; run no workflow in a copy of the repository' },
    PROJECT_OPTION,
    JSON_OPTION,
  ],
  json: [{ shape: initResult }, { when: '--undo', shape: undoResult }],
  exitCodes: {
    0: 'written, and the dry run merged; with --undo: removed',
    1: 'written, but the dry run did not merge; or refused; with --undo: an edited file stays',
    2: 'usage error, or not in a git repository',
    130: 'interrupted with Ctrl-C',
  },
  async run(given, io) {
    const wrong = findWrongOption(given);
    if (wrong !== undefined) return wrong;
    const repository = await findRepository(resolve(io.cwd, given.options.get('project') ?? '.'));
    if (!repository.ok) {
      const isNone = repository.problem.code === 'git/no-repository';
      const hint = isNone ? 'Create one, then try again: git init' : repository.problem.hint;
      const code = reportError({ ...repository.problem, hint }, given, io);
      return isNone ? EXIT.usage : code;
    }
    const { top, gitDir } = repository.value;
    if (top === gitDir) {
      const hint = 'Clone it, and run baton init in the clone.';
      return reportError({ code: 'init/no-files', message: `'${top}' is a bare repository`, hint }, given, io);
    }
    const stateDir = findStateDir(io.env);
    // What init writes counts as the person's consent.
    const above = findSessionAbove(stateDir, io.env);
    if (above !== undefined) return reportError(belowSessionError(above), given, io);
    const record = new InitRecord(top, stateDir);
    return given.options.has('undo') ? undoInit(record, top, given, io) : setUp(repository.value, record, given, io);
  },
};

function findWrongOption({ options }: ParsedArguments): UsageError | undefined {
  const others = ['yes', 'agent', 'check', 'no-dry-run'].filter((name) => options.has(name));
  if (options.has('undo') && others.length > 0) return { usage: `--undo and --${others[0]} exclude each other` };
  const agent = options.get('agent');
  if (agent === undefined || findChoice(agent) !== undefined) return undefined;
  const names = [...listClients().flatMap(({ run, program }) => (program === null ? [] : [run])), SCRIPTED.run];
  return { usage: `there is no client ${agent}. ${didYouMean(agent, names) ?? `There are: ${names.join(', ')}.`}` };
}

async function setUp(repository: Repository, record: InitRecord, given: ParsedArguments, io: Io): Promise<number> {
  const { top } = repository;
  const existing = await findExisting(top, record);
  if (existing !== undefined) return reportError({ code: 'init/has-runbook', ...existing }, given, io);
  const found = await findAll(repository, io);
  const isJson = given.options.has('json');
  if (!isJson) io.out(renderFound(found));
  const chosen = await chooseAnswers(found, given, io);
  if (chosen === undefined) {
    io.err('\nNothing was written.\n');
    return EXIT.interrupted;
  }
  const settings: RunbookSettings = { ...found.project, ...chosen, branch: found.branch.name };
  const text = renderRunbook(settings);
  const checked = checkRunbook([{ path: ROOT_FILE, text }]);
  if (!checked.ok) throw new Error(`the new runbook has an error: ${checked.problems[0].message}`);
  const written = writeRunbook(record, top, text);
  if ('code' in written) return reportError(written, given, io);
  const project = given.options.get('project');
  const shown = pathFrom(resolve(io.cwd, project ?? '.'), top, ROOT_FILE);
  const next = nextCommands(shown, await isIgnored(top), project);
  const unready = describeUnready(chosen.agent, found.agents);
  if (!isJson) {
    io.out(renderWritten(shown, chosen.agent, chosen.checks.length));
    if (unready !== undefined) io.out(`note: ${unready}\n`);
  }
  const dryRun = given.options.has('no-dry-run')
    ? undefined
    : await prove(repository, found, settings, text, isJson, io);
  if (isJson) io.out(`${JSON.stringify(resultOf({ found, settings, written, dryRun, unready, next }))}\n`);
  else io.out(`${dryRun === undefined ? '' : renderDryRun(dryRun, chosen.checks.length)}${renderNext(next)}`);
  if (dryRun?.outcome === 'interrupted') return EXIT.interrupted;
  return dryRun === undefined || dryRun.outcome === 'merged' ? EXIT.ok : EXIT.failed;
}

/** Disables notifications in a dry run. */
const QUIET = '\n[notify]\ndesktop = false\nterminal = false\n';

function writeRunbook(record: InitRecord, top: string, text: string): WrittenFile | WriteProblem {
  try {
    return record.write(ROOT_FILE, text);
  } catch (error) {
    const file = join(top, ROOT_FILE);
    const failed = error instanceof Error && 'path' in error ? String(error.path) : file;
    // Its draft has a longer name; any other path is in the state folder.
    const path = failed.startsWith(file) ? file : failed;
    const message = `cannot write ${path}: ${describeFileError(error)}`;
    return { code: 'init/cannot-write', message, hint: 'Correct that, then run baton init again.' };
  }
}

interface WriteProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** Whether git ignores the runbook. The user may want to keep the file private. */
async function isIgnored(top: string): Promise<boolean> {
  const asked = await git(['check-ignore', '--quiet', '--', ROOT_FILE], { cwd: top, answers: [1] });
  return asked.ok && asked.value.code === 0;
}

async function findAll(repository: Repository, io: Io): Promise<Found> {
  const { top } = repository;
  const [branch, listing, agents, sandboxes] = await Promise.all([
    findBranch(repository),
    readListing(top),
    findInstalledAgents(io.env, top),
    surveySandboxes(io.env, false),
  ]);
  const sandbox = (['bubblewrap', 'user', 'sandbox-exec'] as const).find((kind) => sandboxes[kind].works);
  const project = findProject(listing);
  const notes = [...branch.notes, ...project.notes];
  return { branch, project: { ...project, notes }, agents, sandbox: sandbox ?? null };
}

async function prove(
  { top, commonDir }: Repository,
  { branch }: Found,
  settings: RunbookSettings,
  runbook: string,
  isJson: boolean,
  io: Io,
): Promise<DryRun> {
  const print = (line: string): void => (isJson ? undefined : io.out(`${line}\n`));
  print('\nDry run: scripts take a change to a merge in a copy of this repository. Ctrl-C skips it.');
  return runDry({
    source: { top, commonDir, branch: branch.name, sha: branch.sha },
    runbook: { path: ROOT_FILE, text: runbook },
    scripted: { path: ROOT_FILE, text: `${renderRunbook({ ...settings, agent: SCRIPTED })}${QUIET}` },
    title: 'Dry run of baton init',
    env: io.env,
    timeoutMs: DRY_RUN_MS,
    onLine: print,
  });
}
