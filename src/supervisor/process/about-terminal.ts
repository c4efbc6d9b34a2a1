/** Variables, as a process has them. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * What belongs to a terminal and to whoever sits there. That nobody does, since a build server runs this, is of the same kind: clients
 * that find `CI` wait for no words.
 */
const TERMINAL_VARIABLES =
  /^(?:TERM|TERM_.*|COLORTERM|COLORFGBG|NO_COLOR|FORCE_COLOR|LANG|LANGUAGE|LC_.*|TZ|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|SSH_(?:CLIENT|CONNECTION|TTY)|TMUX|TMUX_PANE|STY|EDITOR|VISUAL|PAGER|BROWSER|VTE_VERSION|WT_SESSION|KITTY_.*|ITERM_.*|LINES|COLUMNS|CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS)$/;

/** Those of a person's terminal. */
export function pickTerminalVariables(env: Variables): Record<string, string> {
  return pick(env, (name) => TERMINAL_VARIABLES.test(name));
}

/** All the others: a daemon that was started elsewhere knows nothing of the terminal in which somebody sits now. */
export function dropTerminalVariables(env: Variables): Record<string, string> {
  return pick(env, (name) => !TERMINAL_VARIABLES.test(name));
}

function pick(env: Variables, isMeant: (name: string) => boolean): Record<string, string> {
  const has = (pair: [string, string | undefined]): pair is [string, string] => pair[1] !== undefined;
  return Object.fromEntries(
    Object.entries(env)
      .filter((pair) => has(pair))
      .filter(([name]) => isMeant(name)),
  );
}
