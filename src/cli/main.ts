export function main(argv: readonly string[]): void {
  process.stdout.write(`${process.version} ${argv.join(' ')}\n`);
}
