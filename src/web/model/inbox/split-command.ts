export interface NextStep {
  /** A command that can be typed unchanged; null if the daemon gave only advice. */
  readonly command: string | null;
  readonly hint: string;
}

/** Splits `next` of an attention item, which is a command, a command with a remark in parentheses, or advice. */
export function splitCommand(next: string): NextStep {
  if (!/^(?:baton|git|ls|rm|df) /.test(next)) return { command: null, hint: next };
  const [, command = next, hint = ''] = /^(.*?) \((.*)\)$/s.exec(next) ?? [];
  return { command, hint };
}
