import { CLIENTS, type ClientName, type Scope } from '../hooks/client.ts';
import { isUnfinished } from '../hooks/files/journal.ts';
import { HOOKED_CLIENTS } from '../hooks/clients.ts';
import { describeVersion, findVersion, type Version } from '../hooks/find-version.ts';
import { findMachine } from '../hooks/machine.ts';
import { readHooksStatus, type FileStatus } from '../hooks/status.ts';
import { findRepositoryTop } from '../hooks/session/known-project.ts';
import { EXIT, type CliCommand } from './command.ts';
import { printable } from './text.ts';

export const hooksStatusCommand: CliCommand = {
  name: 'hooks status',
  summary: 'Show the clients found, their versions, and where hooks are installed',
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
