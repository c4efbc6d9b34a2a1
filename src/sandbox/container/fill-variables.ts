import { posix } from 'node:path';

export interface DevcontainerVariables {
  /** The operator's variables that a session may have, by `allowedEnvironment`; secrets are not among them. */
  readonly local: Readonly<Record<string, string>>;
  /** The variables of the image. */
  readonly container: Readonly<Record<string, string>>;
  /** The worktree, which has the same path outside and inside. */
  readonly worktree: string;
}

export interface FilledVariables {
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** The values of `remoteEnv`. Omits a variable whose value refers to one that the session may not have, with a note. */
export function fillRemoteEnv(
  remoteEnv: Readonly<Record<string, string>>,
  variables: DevcontainerVariables,
): FilledVariables {
  const env: Record<string, string> = {};
  const notes: string[] = [];
  for (const [name, text] of Object.entries(remoteEnv)) {
    const missing: string[] = [];
    const value = fillVariables(text, variables, missing);
    if (missing.length === 0) env[name] = value;
    else notes.push(`devcontainer: ${name} is not set, because ${missing.join(', ')} does not pass to sessions`);
  }
  return { env, notes };
}

/** Fills in variables. `missing` receives the names that have neither a value nor a default. */
export function fillVariables(text: string, variables: DevcontainerVariables, missing: string[]): string {
  const { local, container, worktree } = variables;
  const folders: Readonly<Record<string, string>> = {
    localWorkspaceFolder: worktree,
    containerWorkspaceFolder: worktree,
    localWorkspaceFolderBasename: posix.basename(worktree),
    containerWorkspaceFolderBasename: posix.basename(worktree),
  };
  return text.replaceAll(
    /\$\{(\w+)(?::(\w+)(?::([^}]*))?)?\}/g,
    (whole, kind: string, name = '', otherwise?: string) => {
      if (kind === 'containerEnv') return container[name] ?? otherwise ?? '';
      const found = kind === 'localEnv' ? (local[name] ?? otherwise) : folders[kind];
      if (found === undefined) missing.push(whole);
      return found ?? '';
    },
  );
}
