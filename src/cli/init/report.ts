import type { InitResult } from './result-shape.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { renderTable } from '../table.ts';
import { printable, printableLines } from '../text.ts';
import { type AgentChoice, type InstalledAgent, SCRIPTED } from './agents.ts';
import type { MainBranch } from './branch.ts';
import type { ProjectFindings } from './detect/project.ts';
import type { DryRun } from './dry-run/dry-run.ts';
import type { WrittenFile } from '../../api/init-record.ts';
import type { RunbookSettings } from './render-runbook.ts';

/** The findings before any question is asked. */
export interface Found {
  readonly branch: MainBranch;
  readonly project: ProjectFindings;
  readonly agents: readonly InstalledAgent[];
  /** The mode that `sandbox = "auto"` selects on this machine; null if no sandbox works. */
  readonly sandbox: string | null;
}

export function renderFound({ branch, project, agents, sandbox }: Found): string {
  const { toolchains, checks, ci, instructions, notes } = project;
  const rows = [
    ['branch', `${branch.name}${branch.sha === null ? ', no commit yet' : ''}`],
    ['tools', listed(toolchains)],
    ['checks', listed(checks.map(({ run }) => run))],
    ['CI', listed(ci)],
    ['instructions', listed(instructions)],
    ...(agents.length === 0
      ? [['agents', 'none on the PATH']]
      : agents.map((agent, i) => [i === 0 ? 'agents' : '', describeAgent(agent)])),
    ['sandbox', sandbox ?? 'none works here; see: baton doctor'],
  ];
  return `Found:\n${renderTable(rows).replaceAll(/^(?=.)/gm, '  ')}${notes.map((note) => `note: ${printable(note)}\n`).join('')}`;
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function describeAgent({ run, version, login }: InstalledAgent): string {
  return `${run} ${version ?? '(unknown version)'}, ${login === null ? 'no login found' : `login: ${login}`}`;
}

export function renderWritten(path: string, agent: AgentChoice, checks: number): string {
  const who = agent.run === SCRIPTED.run ? 'scripts play the roles' : `${agent.title} plays the roles`;
  const what = checks === 0 ? 'no check' : checks === 1 ? '1 check' : `${checks} checks`;
  return `\nWrote ${path}: ${who}, ${what} before a merge. Nothing was committed.\n`;
}

/** Describes how to make the chosen agent ready; undefined if it is. */
export function describeUnready(agent: AgentChoice, installed: readonly InstalledAgent[]): string | undefined {
  if (agent.run === SCRIPTED.run) return undefined;
  const found = installed.find(({ run }) => run === agent.run);
  if (found === undefined) return `${agent.title} is not installed. To see how to install it: baton doctor`;
  return found.login === null
    ? `No login of ${agent.title} was found. Start it once and log in: ${found.program}`
    : undefined;
}

export function renderDryRun({ outcome, detail, check, ms }: DryRun, checks: number): string {
  const took = `${(ms / 1000).toFixed(0)} s`;
  switch (outcome) {
    case 'merged':
      return `Dry run: passed in ${took}. A scripted change was ${checks === 0 ? '' : 'checked and '}merged in a temporary copy.\n`;
    case 'check-failed':
      return `Dry run: ${printable(detail)} in a clean checkout, after ${took}. Until it passes there, Baton merges nothing.\n${tailOf(check?.output ?? '')}`;
    case 'timeout':
      return `Dry run: stopped, because ${printable(detail)}. The file is valid, but no scripted change was merged with it.\n`;
    case 'interrupted':
      return 'Dry run: interrupted. The file is valid, but no scripted change was merged with it.\n';
    case 'stopped':
    case 'not-started':
      return `Dry run: ${outcome === 'stopped' ? 'stopped' : 'not started'}: ${printableLines(detail)}\n`;
  }
}

/** The end of a check's output. */
function tailOf(output: string): string {
  const lines = output.split('\n').slice(-TAIL_LINES);
  return output === '' ? '' : `${lines.map((line) => `  | ${printable(line)}`).join('\n')}\n`;
}

const TAIL_LINES = 12;

/** The commands to type after `baton init`, in the folder of the repository. */
export function nextCommands(path: string, isIgnored: boolean, folder?: string): readonly string[] {
  const enter = folder === undefined ? '' : `cd ${shellWord(folder)} && `;
  const add = `git add ${isIgnored ? '--force ' : ''}${shellWord(path)}`;
  return [
    // Keeps other staged changes out of the commit.
    `${enter}${add} && git commit -m "chore: add the runbook of Baton" -- ${shellWord(path)}`,
    'baton run issue "TITLE" --plan',
    'baton run issue "TITLE"',
  ];
}

export function renderNext(commands: readonly string[]): string {
  return `\nNext:\n${commands.map((command) => `  ${command}\n`).join('')}Undo: baton init --undo\n`;
}

interface Done {
  readonly found: Found;
  readonly settings: RunbookSettings;
  readonly written: WrittenFile;
  readonly dryRun: DryRun | undefined;
  readonly unready: string | undefined;
  readonly next: readonly string[];
}

/** The output of `--json`. */
export function resultOf({ found, settings, written, dryRun, unready, next }: Done): InitResult {
  const { branch, project, agents, sandbox } = found;
  return {
    branch: branch.name,
    has_commit: branch.sha !== null,
    tools: project.toolchains,
    checks: settings.checks.map(({ name, run, from }) => ({ name, run, from })),
    ci: project.ci,
    instructions: project.instructions,
    agents: agents.map(({ run, version, login }) => ({ run, version, login })),
    sandbox,
    agent: settings.agent.run,
    wrote: [written],
    dry_run: dryRun ?? null,
    notes: [...project.notes, ...(unready === undefined ? [] : [unready])],
    next,
    undo: 'baton init --undo',
  };
}
