import { createNameMatcher } from '../../protocol/environment.ts';
import type { ShellSpec } from '../../protocol/sandbox.ts';

/**
 * The variables of a command in the second sandbox: those that the client passed, without what names or proves the
 * client. A token is also searched in the values, because a client may pass it under another name.
 */
export function commandEnvironment(
  passed: Readonly<Record<string, string>>,
  { withheld, env }: Pick<ShellSpec, 'withheld' | 'env'>,
  tokens: readonly string[],
): Readonly<Record<string, string>> {
  const isWithheld = createNameMatcher(withheld);
  const isKept = ([name, value]: readonly [string, string]): boolean =>
    name !== '' && !name.includes('=') && !isWithheld(name) && !tokens.some((token) => value.includes(token));
  return { ...Object.fromEntries(Object.entries(passed).filter(isKept)), ...env };
}
