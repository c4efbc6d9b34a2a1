import { git } from './run-git.ts';

/**
 * Who commits in the sessions of a repository, as variables: what git itself would take for the operator there. Some clients run git
 * without the user's configuration, and then it refuses to commit. Variables that the daemon has pass by themselves, and stay.
 */
export async function readAuthorEnvironment(
  repository: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, string>>> {
  const listed = await git(['config', '--includes', '-z', '--get-regexp', '^(user|author|committer)\\.(name|email)$'], {
    cwd: repository,
    env: configOf(env),
    answers: [1],
  });
  if (!listed.ok) return {};
  const settings = new Map(
    listed.value.stdout
      .split('\0')
      .filter((each) => each.includes('\n'))
      .map((each): [string, string] => [each.slice(0, each.indexOf('\n')), each.slice(each.indexOf('\n') + 1)]),
  );
  return { ...person('AUTHOR', 'author', settings, env), ...person('COMMITTER', 'committer', settings, env) };
}

/** Both or neither: a name with an address that git derives from the host is not an identity. */
function person(
  variable: string,
  section: string,
  settings: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const [nameOf, emailOf] = [`GIT_${variable}_NAME`, `GIT_${variable}_EMAIL`];
  const name = env[nameOf] || settings.get(`${section}.name`) || settings.get('user.name');
  const email = env[emailOf] || settings.get(`${section}.email`) || settings.get('user.email');
  return name && email ? { [nameOf]: name, [emailOf]: email } : {};
}

/** The user's own files, as their shell finds them. */
function configOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of CONFIG_FILES) {
    const value = env[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

const CONFIG_FILES = ['HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'];
