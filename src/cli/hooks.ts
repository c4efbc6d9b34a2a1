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
import { type FileStatus, readHooksStatus } from '../hooks/status.ts';
import { choice, flag, list, object, text } from '../protocol/shape/build-shape.ts';
import { compareVersion, describeVersion, findVersion, type Version, versionShape } from './agents/client-version.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments, type UsageError } from './command.ts';
import { reportProblem } from './problems.ts';
import { printable } from './text.ts';

const CLIENT_ARGUMENT = { name: 'CLIENT', choices: CLIENTS, about: `One of: ${CLIENTS.join(', ')}` } as const;
const STOP_ACTIONS = ['signal', 'allow'] as const;
const SCOPE_OPTIONS = [
  { name: 'user', about: 'For all of your sessions (default)' },
  { name: 'repository', formerly: ['--project'], about: 'For your sessions in this repository' },
] as const;

export const hooksInstallCommand: CliCommand = {
  examples: ['baton hooks install claude', 'baton hooks install codex --repository --claim'],
  args: [CLIENT_ARGUMENT],
  options: [
    ...SCOPE_OPTIONS,
    { name: 'claim', about: 'A session claims the next task at its start, and releases it if it ends unfinished' },
    {
      name: 'on-stop',
      value: 'ACTION',
      choices: STOP_ACTIONS,
      about: 'signal: a session that holds a task must signal before it stops; allow: it may stop without a signal',
    },
    {
      name: 'principal',
      value: 'NAME',
      about: 'The principal that is responsible for the sessions (default: CLIENT.USER)',
    },
  ],
  async run(given, io) {
    const asked = parseWanted(given, io);
    if ('usage' in asked) return asked;
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
      const hint = `First: baton hooks uninstall ${asked.name} --${elsewhere.scope.kind === 'user' ? 'user' : 'repository'}`;
      return reportProblem(
        { code: 'hooks-installed', message: `already installed for ${where}: every hook would run twice`, hint },
        io,
      );
    }
    const { principal } = asked.wanted.options;
    const done = installHooks(hooked, asked.wanted);
    if (!done.ok) return reportRefusal(done, io);
    const version = await versionOf(hooked, io);
    const installed = `Installed for ${hooked.title} in ${done.changed.join(' and ')}.\n`;
    io.out(done.changed.length === 0 ? 'Already installed.\n' : installed);
    for (const note of done.notes) io.out(`Note: ${printable(note)}\n`);
    io.out(`${hooked.title}: ${describeVersion(hooked.tested, version)}.\n`);
    // If no daemon runs, the first session requests the token.
    if (principal !== undefined) await ensureWorkerToken(principal, io.env, false);
    io.out(`Sessions of this client act as the principal worker:${principal}.\n`);
    if (scope.kind === 'project') io.out('Note: these files contain paths of this machine; keep them out of git.\n');
    return EXIT.ok;
  },
};

export const hooksUninstallCommand: CliCommand = {
  examples: ['baton hooks uninstall claude', 'baton hooks uninstall codex --repository'],
  args: [CLIENT_ARGUMENT],
  options: [...SCOPE_OPTIONS],
  run(given, io) {
    const asked = parseWanted(given, io);
    if ('usage' in asked) return asked;
    const hooked = HOOKED_CLIENTS[asked.name];
    const inside = refuseInside(asked.wanted.machine.stateDir, io);
    if (inside !== undefined) return inside;
    if (!clearLost(hooked, asked.wanted.machine, io)) return EXIT.failed;
    const done = uninstallHooks(hooked, asked.wanted);
    if (!done.ok) return reportRefusal(done, io);
    io.out(done.changed.length === 0 ? 'Not installed.\n' : `Removed from ${done.changed.join(' and ')}.\n`);
    return EXIT.ok;
  },
};

export const hooksRunCommand: CliCommand = {
  examples: ['baton hooks run claude stop'],
  args: [
    { name: 'CLIENT', about: CLIENT_ARGUMENT.about },
    { name: 'MOMENT', about: 'start, prompt, stop or end' },
  ],
  options: [
    { name: 'claim', about: 'At the start: claim the next task' },
    { name: 'principal', value: 'NAME', about: 'The principal whose worker token the hook uses' },
  ],
  ownsTerminal: () => true,
  exitCodes: { 0: 'always; an empty answer changes nothing' },
  async run({ args, options }, io) {
    // Rarely used: bin/baton.cjs usually starts that program before it loads the CLI.
    const { runSessionHook } = await import('../hooks/session/main.ts');
    const principal = options.get('principal');
    const who = principal === undefined ? [] : ['--principal', principal];
    return runSessionHook([...args, ...(options.has('claim') ? ['--claim'] : []), ...who], io.env, io.cwd);
  },
};

/** An agent must not choose the principal of a person's sessions: the first session would get a token for that name. */
function refuseInside(stateDir: string, io: Io): number | undefined {
  const above = findSessionAbove(stateDir, io.env);
  if (above === undefined) return undefined;
  return reportProblem(belowSessionError(above), io);
}

function parseWanted(
  { args, options }: ParsedArguments,
  io: Io,
): { name: ClientName; wanted: InstallRequest } | UsageError {
  const name = CLIENTS.find((each) => each === args[0]);
  if (name === undefined) return { usage: 'CLIENT is missing' };
  if (options.has('user') && options.has('repository')) return { usage: 'use either --user or --repository' };
  const onStop = STOP_ACTIONS.find((each) => each === options.get('on-stop')) ?? 'signal';
  const principal = options.get('principal') ?? defaultPrincipal(name);
  if (!isPrincipalName(principal)) return { usage: `--principal: ${PRINCIPAL_EXPECTED}` };
  const root = options.has('repository') ? findRepositoryTop(io.cwd) : undefined;
  if (options.has('repository') && root === undefined)
    return { usage: '--repository needs a git repository, and this folder is not in one' };
  const scope: Scope = root === undefined ? { kind: 'user' } : { kind: 'project', root };
  const wanted = { onStop, claim: options.has('claim'), principal } as const;
  return { name, wanted: { scope, options: wanted, machine: findMachine(io.env) } };
}

/** Includes the client, so that work done with one client may be reviewed with another. */
function defaultPrincipal(name: ClientName): string {
  try {
    return `${name}.${userInfo().username}`.replaceAll(/[^\w.@-]/g, '-').slice(0, 64);
  } catch {
    return name;
  }
}

/** Uninstalls the hooks of deleted projects. Returns false after an error, which it reports. */
function clearLost(hooked: HookedClient, machine: HookMachine, io: Io): boolean {
  const { done, roots } = uninstallDeletedProjects(hooked, machine);
  for (const root of roots) io.out(`Removed for ${printable(root)}, which no longer exists.\n`);
  if (!done.ok) reportRefusal(done, io);
  return done.ok;
}

function reportRefusal(done: InstallResult & { ok: false }, io: Io): number {
  return reportProblem({ code: 'hooks-not-changed', message: done.what, hint: done.hint }, io);
}

const hooksStatus = object({
  clients: list(
    object({
      client: choice(CLIENTS),
      tested: { ...list(text), about: 'The versions with which Baton is tested.' },
      version: { ...versionShape, about: 'The installed version.' },
      files: list(
        object({
          scope: {
            ...choice(['user', 'project']),
            about: '`user`: for all sessions; `project`: for sessions in this repository.',
          },
          path: text,
          parts: { ...list(text), about: 'What Baton has installed in it.' },
          problems: { ...list(text), about: 'What is wrong with it.' },
          programs: { ...list(text), about: 'The program that its hooks start.' },
          missing: { ...list(text), about: 'Programs that its hooks start and that do not exist.' },
        }),
      ),
    }),
  ),
  program: { ...text, about: 'The program that the hooks start.' },
  unfinished: { ...flag, about: 'An install was interrupted.' },
});

export const hooksStatusCommand: CliCommand = {
  examples: ['baton hooks status', 'baton hooks status claude --json'],
  args: [{ ...CLIENT_ARGUMENT, optional: true }],
  options: [{ name: 'json', about: 'Print the result as JSON' }],
  json: [{ shape: hooksStatus }],
  async run({ args: [named], options }, io) {
    const names = CLIENTS.filter((each) => named === undefined || each === named);
    const root = findRepositoryTop(io.cwd);
    const scopes: Scope[] = [{ kind: 'user' }, ...(root === undefined ? [] : [{ kind: 'project', root } as const])];
    const machine = findMachine(io.env);
    const all = await Promise.all(
      names.map(async (name) => ({
        client: name,
        tested: HOOKED_CLIENTS[name].tested,
        version: await versionOf(HOOKED_CLIENTS[name], io),
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
      io.out('An install was interrupted: the next `baton hooks install` or `uninstall` restores its files.\n');
    return EXIT.ok;
  },
};

async function versionOf({ name, tested }: HookedClient, io: Io): Promise<Version> {
  return compareVersion(await findVersion({ program: name }, io.env), tested);
}

/** Two scopes may share one file. */
function uniqueFiles(files: readonly FileStatus[]): readonly FileStatus[] {
  return files.filter(({ path }, n) => files.findIndex((each) => each.path === path) === n);
}

function describeClient(name: ClientName, version: Version, files: readonly FileStatus[]): string {
  const client = HOOKED_CLIENTS[name];
  const installed = files.filter(({ parts, problems }) => parts.length > 0 || problems.length > 0);
  const lines = installed.flatMap(({ scope, path, parts, problems, missing }) => [
    `  ${scope}: ${printable(path)}: ${parts.join(', ') || 'not installed'}`,
    ...problems.map((problem) => `    ${printable(problem)}`),
    ...missing.map((program) => `    ${printable(program)} is missing. Run: baton hooks install ${name}`),
  ]);
  return `${client.title}: ${describeVersion(client.tested, version)}\n${lines.length === 0 ? '  not installed\n' : `${lines.join('\n')}\n`}`;
}
