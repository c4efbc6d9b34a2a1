/** Podman and docker report their own failures with three exit codes, two of which shells use too. */
export function explainEngineExit(engine: string, code: number | null): string | undefined {
  if (code === 125) return `${engine} could not start the container; its messages are above`;
  if (code === 126) return 'the image has the program, but it cannot be run there';
  if (code === 127) return 'a program was not found: it must be in the image';
  return undefined;
}
