/**
 * Names the hooks of a fence for every git process below a session, whichever folder it works in: also in the main checkout and in
 * worktrees that are added from there. Configuration from the environment counts more than that of a repository. A session can unset
 * it; what happens to the main branch then, the daemon sees (`daemon/main-watch.ts`).
 */
export function fenceEnvironment(
  hooksPath: string,
  own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  // The runbook may set configuration in the same way: this pair comes after its own.
  const count = /^[0-9]{1,4}$/.test(own['GIT_CONFIG_COUNT'] ?? '') ? Number(own['GIT_CONFIG_COUNT']) : 0;
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: 'core.hooksPath',
    [`GIT_CONFIG_VALUE_${count}`]: hooksPath,
  };
}
