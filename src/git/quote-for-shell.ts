/** A word as a shell takes it, for commands that we tell people to type: names of branches and folders may be anything. */
export function quoteForShell(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
