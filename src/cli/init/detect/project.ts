import { LANGUAGES } from './languages.ts';
import { detectNode } from './node.ts';
import { detectPython } from './python.ts';
import { findCiSystems, findInstructions, findNestedProjects, findWorkspaceFile } from './surroundings.ts';
import { TASK_RUNNERS } from './task-runners.ts';
import { COMMAND_NAMES, type CommandName, type Listing, type Toolchain } from './toolchain.ts';

export interface Check {
  readonly name: string;
  readonly run: string;
  /** The file in which the check was found; null if a person named it. */
  readonly from: string | null;
  /** Whether the command downloads packages. */
  readonly isOnline: boolean;
}

/** What `baton init` found in a repository. */
export interface ProjectFindings {
  readonly toolchains: readonly string[];
  /** In the order in which they run. */
  readonly checks: readonly Check[];
  /** The command that prepares a new worktree; null if none is needed. */
  readonly install: string | null;
  readonly build: string | null;
  readonly ci: readonly string[];
  readonly instructions: readonly string[];
  /** Notes for the person, one sentence each. */
  readonly notes: readonly string[];
}

export function findProject(files: Listing): ProjectFindings {
  const languages = [detectNode, detectPython, ...LANGUAGES].flatMap((detect) => detect(files) ?? []);
  const toolchains = [...languages, ...findAdditions(files, languages)];
  return {
    toolchains: toolchains.map(({ title }) => title),
    checks: checksOf(toolchains),
    install: joined(toolchains, 'install'),
    build: joined(toolchains, 'build'),
    ci: findCiSystems(files),
    instructions: findInstructions(files),
    notes: [...describeLayout(files, languages), ...describeIgnores(files, languages)],
  };
}

/** Task runners, reduced to commands that no language has. */
function findAdditions(files: Listing, languages: readonly Toolchain[]): readonly Toolchain[] {
  const taken = new Set(languages.flatMap(({ commands }) => Object.keys(commands)));
  return TASK_RUNNERS.flatMap((detect) => {
    const found = detect(files);
    const added = Object.entries(found?.commands ?? {}).filter(([name]) => !taken.has(name));
    for (const [name] of added) taken.add(name);
    return found === undefined || added.length === 0 ? [] : [{ ...found, commands: Object.fromEntries(added) }];
  });
}

function checksOf(toolchains: readonly Toolchain[]): readonly Check[] {
  const hasChecks = toolchains.some(({ commands }) => Object.keys(commands).some((name) => name !== 'install'));
  if (!hasChecks) return [];
  return COMMAND_NAMES.flatMap((name) => {
    const having = toolchains.filter(({ commands }) => commands[name] !== undefined);
    return having.map(({ id, from, commands, online = [] }) => ({
      name: having.length === 1 ? name : `${name}-${id}`,
      run: commands[name] ?? '',
      from,
      isOnline: name === 'install' || online.includes(name),
    }));
  });
}

function joined(toolchains: readonly Toolchain[], name: CommandName): string | null {
  const commands = toolchains.flatMap(({ commands: all }) => all[name] ?? []);
  return commands.length === 0 ? null : commands.join(' && ');
}

function describeLayout(files: Listing, languages: readonly Toolchain[]): readonly string[] {
  const workspace = findWorkspaceFile(files);
  if (workspace !== undefined) return [`This is a monorepo (${workspace}): only commands of its root were looked for.`];
  const nested = findNestedProjects(files);
  if (nested.length === 0) return [];
  const names = [...nested.slice(0, NAMED), ...(nested.length > NAMED ? [`${nested.length - NAMED} more`] : [])];
  const what =
    languages.length === 0 ? 'The root has no project, but there is' : 'Only the root was looked at; there is also';
  const whose = nested.length === 1 ? 'its' : 'their';
  return [`${what} ${names.join(', ')}. Add ${whose} commands to [[ci.required]].`];
}

const NAMED = 3;

/** Describes missing ignore rules, because an agent would commit what git does not ignore. */
function describeIgnores(files: Listing, languages: readonly Toolchain[]): readonly string[] {
  const lines = files.read('.gitignore').split('\n');
  const ignored = new Set(lines.map((line) => line.trim().replaceAll(/^(?:\*\*)?\/|\/\**$/g, '')));
  const open = languages.flatMap(({ fills }) => (fills === undefined || ignored.has(fills) ? [] : [fills]));
  return open.map((folder) => `${folder} is not in .gitignore. Add it, so that no agent commits it.`);
}
