import { userInfo } from 'node:os';
import { ensureWorkerToken } from '../api/client/connect.ts';
import { belowSessionError, findSessionAbove } from '../api/session-above.ts';
import { isPrincipalName, PRINCIPAL_EXPECTED } from '../api/state-folder.ts';
import {
  type ClientName,
  CLIENTS,
  type HookedClient,
  type HookMachine,
  type InstallRequest,
  type Scope,
} from '../hooks/client.ts';
import { HOOKED_CLIENTS } from '../hooks/clients.ts';
import { findMachine } from '../hooks/command-line.ts';
import { isUnfinished } from '../hooks/files/journal.ts';
import { installHooks, type InstallResult, uninstallDeletedProjects, uninstallHooks } from '../hooks/install.ts';
import { InstallRecord } from '../hooks/record.ts';
import { findRepositoryTop } from '../hooks/session/known-project.ts';
import { describeVersion, type FileStatus, findVersion, readHooksStatus, type Version } from '../hooks/status.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from './command.ts';
import { printable, printableLines } from './text.ts';

const CLIENT_ARGUMENT = { name: 'CLIENT', about: CLIENTS.join(', ') } as const;
const SCOPE_OPTIONS = [
  { name: 'user', about: 'For all of your sessions; so where neither is given' },
  { name: 'project', about: 'For your sessions in this repository' },
] as const;

export const hooksInstallCommand: CliCommand = {
  examples: ['baton hooks install claude', 'baton hooks install codex --project --claim'],
  args: [CLIENT_ARGUMENT],
  options: [
    ...SCOPE_OPTIONS,
    { name: 'claim', about: 'A session claims the next task when it starts, and gives it back when it ends undone' },
    {
      name: 'on-stop',
      value: 'ACTION',
      about: 'signal: a session that holds a task says how it stands before it stops; allow: it need not',
    },
    { name: 'principal', value: 'NAME', about: 'Who answers for what its sessions do; left out: CLIENT.USER' },
  ],
  async run(given, io) {
    const asked = parseWanted(given, io);
    if ('usage' in asked) return reportUsage(asked.usage, 'install', io);
    const hooked = HOOKED_CLIENTS[asked.name];
    const { scope, machine } = asked.wanted;
    const inside = refuseInside(machine.stateDir, io);
    if (inside !== undefined) return inside;
    if (!clearLost(hooked, machine, io)) return EXIT.failed;
    const elsewhere = new InstallRecord(machine.stateDir)
      .all(asked.name)
      .find((each) => each.scope.kind !== scope.kind);
    if (elsewhere !== undefined) {
      const where = elsewhere.scope.kind === 'user' ? 'all of your sessions' : elsewhere.scope.root;
      io.err(`Error: it is installed for ${where} already: a session would hear everything twice\n`);
      io.err(`  hint: First: baton hooks uninstall ${asked.name} --${elsewhere.scope.kind}\n`);
      return EXIT.failed;
    }
    const { principal } = asked.wanted.options;
    const done = installHooks(hooked, asked.wanted);
    if (!done.ok) return reportRefusal(done, io);
    const version = await findVersion(hooked, io.env);
    const isSame = done.changed.length === 0;
    io.out(
      isSame ? `Everything was there already.\n` : `Installed for ${hooked.title} in ${done.changed.join(' and ')}.\n`,
    );
    for (const note of done.notes) io.out(`Note: ${printable(note)}\n`);
    io.out(`${hooked.title}: ${describeVersion(hooked, version)}.\n`);
    // While no daemon runs, the first session has the token issued.
    if (principal !== undefined) await ensureWorkerToken(principal, io.env, false);
    io.out(`Its sessions work as the principal worker:${principal}.\n`);
    if (scope.kind === 'project') io.out('Note: these files name programs of this machine; keep them out of git.\n');
    return EXIT.ok;
  },
};

export const hooksUninstallCommand: CliCommand = {
  examples: ['baton hooks uninstall claude', 'baton hooks uninstall codex --project'],
  args: [CLIENT_ARGUMENT],
  options: [...SCOPE_OPTIONS],
  run(given, io) {
    const asked = parseWanted(given, io);
    if ('usage' in asked) return reportUsage(asked.usage, 'uninstall', io);
    const hooked = HOOKED_CLIENTS[asked.name];
    const inside = refuseInside(asked.wanted.machine.stateDir, io);
    if (inside !== undefined) return inside;
    if (!clearLost(hooked, asked.wanted.machine, io)) return EXIT.failed;
    const done = uninstallHooks(hooked, asked.wanted);
    if (!done.ok) return reportRefusal(done, io);
    const isNothing = done.changed.length === 0;
    io.out(isNothing ? 'Nothing of Baton was there.\n' : `Taken out of ${done.changed.join(' and ')}.\n`);
    return EXIT.ok;
  },
};

export const hooksRunCommand: CliCommand = {
  examples: ['baton hooks run claude stop'],
  args: [CLIENT_ARGUMENT, { name: 'MOMENT', about: 'start, prompt, stop or end' }],
  options: [
    { name: 'claim', about: 'At the start: claim the next task' },
    { name: 'principal', value: 'NAME', about: 'Whose worker token to use' },
  ],
  exitCodes: { 0: 'always: an empty answer changes nothing' },
  async run({ args, options }, io) {
    // Usually this is not reached: the bin starts that program before anything else is loaded.
    const { runSessionHook: runHook } = await import('../hooks/session/main.ts');
    const principal = options.get('principal');
    const who = principal === undefined ? [] : ['--principal', principal];
    return runHook([...args, ...(options.has('claim') ? ['--claim'] : []), ...who], io.env, io.cwd);
  },
};

/**
 * An agent does not decide as which principal a person's sessions work: the first of them would have a token issued for the name that the
 * agent chose, with the operator's rights.
 */
function refuseInside(stateDir: string, io: Io): number | undefined {
  const above = findSessionAbove(stateDir, io.env);
  if (above === undefined) return undefined;
  const { message, hint } = belowSessionError(above);
  io.err(`Error: ${message}\n  hint: ${hint}\n`);
  return EXIT.failed;
}

function parseWanted(
  { args, options }: ParsedArguments,
  io: Io,
): { name: ClientName; wanted: InstallRequest } | { usage: string } {
  const name = CLIENTS.find((each) => each === args[0]);
  if (name === undefined) return { usage: `there is no client ${args[0]}: it is one of ${CLIENTS.join(', ')}` };
  if (options.has('user') && options.has('project')) return { usage: 'either --user or --project' };
  const onStop = options.get('on-stop') ?? 'signal';
  if (onStop !== 'signal' && onStop !== 'allow') return { usage: `--on-stop is signal or allow, not ${onStop}` };
  const principal = options.get('principal') ?? defaultPrincipal(name);
  if (!isPrincipalName(principal)) return { usage: `--principal: ${PRINCIPAL_EXPECTED}` };
  const scope = scopeOf(options.has('project'), io.cwd);
  if (scope === undefined) return { usage: '--project needs a git repository, and there is none around this folder' };
  const wanted = { onStop, claim: options.has('claim'), principal } as const;
  return { name, wanted: { scope, options: wanted, machine: findMachine(io.env) } };
}

/** A client and a person: the reviewer of what was made with one client may use another. */
function defaultPrincipal(name: ClientName): string {
  try {
    return `${name}.${userInfo().username}`.replaceAll(/[^\w.@-]/g, '-').slice(0, 64);
  } catch {
    return name;
  }
}

function scopeOf(isProject: boolean, cwd: string): Scope | undefined {
  if (!isProject) return { kind: 'user' };
  const root = findRepositoryTop(cwd);
  return root === undefined ? undefined : { kind: 'project', root };
}

/** False where it could not be done, which is said. */
function clearLost(hooked: HookedClient, machine: HookMachine, io: Io): boolean {
  const { done, roots } = uninstallDeletedProjects(hooked, machine);
  for (const root of roots) io.out(`Taken out for ${printable(root)}, which is not there any more.\n`);
  if (!done.ok) reportRefusal(done, io);
  return done.ok;
}

function reportUsage(problem: string, command: string, io: Io): number {
  io.err(`Error: ${printable(problem)}\nTry: baton hooks ${command} --help\n`);
  return EXIT.usage;
}

function reportRefusal(done: InstallResult & { ok: false }, io: Io): number {
  io.err(`Error: ${printableLines(done.what)}\n  hint: ${done.hint}\n`);
  return EXIT.failed;
}

export const hooksStatusCommand: CliCommand = {
  examples: ['baton hooks status', 'baton hooks status claude --json'],
  args: [{ name: 'CLIENT', about: CLIENTS.join(', '), optional: true }],
  options: [{ name: 'json', about: 'Print the result as JSON' }],
  async run({ args: [named], options }, io) {
    const names = CLIENTS.filter((each) => named === undefined || each === named);
    if (names.length === 0) {
      io.err(`Error: there is no client ${printable(named ?? '')}: it is one of ${CLIENTS.join(', ')}\n`);
      return EXIT.usage;
    }
    const root = findRepositoryTop(io.cwd);
    const scopes: Scope[] = [{ kind: 'user' }, ...(root === undefined ? [] : [{ kind: 'project', root } as const])];
    const machine = findMachine(io.env);
    const all = await Promise.all(
      names.map(async (name) => ({
        client: name,
        tested: HOOKED_CLIENTS[name].tested,
        version: await findVersion(HOOKED_CLIENTS[name], io.env),
        files: uniqueFiles(scopes.flatMap((scope) => readHooksStatus(HOOKED_CLIENTS[name], scope, machine))),
      })),
    );
    const unfinished = isUnfinished(machine.stateDir);
    if (options.has('json')) {
      io.out(`${JSON.stringify({ clients: all, program: machine.baton, unfinished })}\n`);
      return EXIT.ok;
    }
    for (const each of all) io.out(describeClient(each.client, each.version, each.files));
    if (unfinished)
      io.out('A run was killed in the middle: the next `baton hooks install` or `uninstall` puts its files back.\n');
    return EXIT.ok;
  },
};

/** A file that serves both scopes is one file. */
function uniqueFiles(files: readonly FileStatus[]): readonly FileStatus[] {
  return files.filter(({ path }, n) => files.findIndex((each) => each.path === path) === n);
}

function describeClient(name: ClientName, version: Version, files: readonly FileStatus[]): string {
  const client = HOOKED_CLIENTS[name];
  const installed = files.filter(({ parts, problems }) => parts.length > 0 || problems.length > 0);
  const lines = installed.flatMap(({ scope, path, parts, problems, missing }) => [
    `  ${scope}: ${printable(path)}: ${parts.join(', ') || 'nothing of Baton'}`,
    ...problems.map((problem) => `    ${printable(problem)}`),
    ...missing.map((program) => `    ${printable(program)} is gone: install again`),
  ]);
  return `${client.title}: ${describeVersion(client, version)}\n${lines.length === 0 ? '  not installed\n' : `${lines.join('\n')}\n`}`;
}
