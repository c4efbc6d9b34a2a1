/** One word in single quotes: a POSIX shell reads it as it is, whatever it contains. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** One word for a command that people read and type: in quotes only if a shell would split or expand it. */
export function shellWord(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : quoteForShell(word);
}
