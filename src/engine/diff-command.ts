/**
 * The command with which a person sees a change before they decide about it. In the repository an agent can configure programs that git
 * runs, and hide bytes: replaced commits, `textconv`, an external diff, a pager, `-diff` attributes. The options turn these off.
 */
export function diffCommand(from: string, to: string): string {
  return `git --no-replace-objects --no-pager diff --no-ext-diff --no-textconv --text ${from.slice(0, 12)} ${to.slice(0, 12)}`;
}
