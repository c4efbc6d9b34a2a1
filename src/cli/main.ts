import { EXIT, type Io, type ListedCommand } from './command.ts';
import { COMMANDS } from './commands.ts';
import { parseArgs } from './parse-args.ts';
import { processIo } from './process-io.ts';

export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  // `web keys` is not `web` with an argument: the longest name counts.
  const listed = COMMANDS.filter(({ name }) => name.split(' ').every((word, i) => argv[i] === word))
    .toSorted((a, b) => a.name.length - b.name.length)
    .at(-1);
  if (listed === undefined) return answerWithoutCommand(argv, io);
  try {
    return await run(listed, argv, io);
  } catch (error) {
    // A full disk, or a folder in place of a file: the user gets the reason without a stack trace.
    const { printable } = await import('./text.ts');
    const { describeError } = await import('./problems.ts');
    io.err(`Error: ${printable(describeError(error))}\n`);
    return EXIT.failed;
  }
}

async function run(listed: ListedCommand, argv: readonly string[], io: Io): Promise<number> {
  const command = await listed.load();
  const parsed = parseArgs(command, argv.slice(listed.name.split(' ').length));
  if (parsed.kind === 'given') {
    const done = await command.run(parsed.given, io);
    if (typeof done === 'number') return done;
    const { printable } = await import('./text.ts');
    io.err(`Error: ${printable(done.usage)}\nTry: baton ${listed.name} --help\n`);
    return EXIT.usage;
  }
  const { renderCommandHelp, renderUsage } = await import('./help.ts');
  if (parsed.kind === 'help') {
    io.out(renderCommandHelp(listed, command));
    return EXIT.ok;
  }
  io.err(`Error: ${parsed.problem}\nUsage: ${renderUsage(listed.name, command)}\nTry: baton ${listed.name} --help\n`);
  return EXIT.usage;
}

async function answerWithoutCommand(argv: readonly string[], io: Io): Promise<number> {
  const { renderOverviewHelp } = await import('./help.ts');
  const [first = '--help', second = '--help'] = argv;
  if (first === '--version' || first === '-V') {
    const { VERSION } = await import('./version.ts');
    io.out(`${VERSION}\n`);
    return EXIT.ok;
  }
  if (first === 'help' && argv.length > 1) return main([...argv.slice(1), '--help'], io);
  const isGroup = COMMANDS.some(({ name }) => name.startsWith(`${first} `));
  if (isHelp(first) || (isGroup && isHelp(second))) {
    io.out(renderOverviewHelp(COMMANDS, isGroup ? first : ''));
    return EXIT.ok;
  }
  const { findNearest } = await import('../protocol/shape/problem.ts');
  const typed = isGroup ? `${first} ${second}` : first;
  const names = COMMANDS.map(({ name }) => name);
  const groups = new Set(names.filter((name) => name.includes(' ')).map((name) => `${name.split(' ', 1)[0]}`));
  // Both words may be wrong, or only the first, which may be that of a group.
  const nearest = [isHelp(second) ? first : `${first} ${second}`, first].flatMap(
    (words) => findNearest(words, names) ?? [],
  )[0];
  const group = nearest === undefined ? findNearest(first, [...groups]) : undefined;
  const meant = nearest ?? (group === undefined ? undefined : `${group} --help`);
  const hint = meant === undefined ? '' : `Did you mean: baton ${meant}\n`;
  const { printable } = await import('./text.ts');
  io.err(`Error: unknown command: ${printable(typed)}\n${hint}Try: baton ${isGroup ? `${first} ` : ''}--help\n`);
  return EXIT.usage;
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h' || word === 'help';
}
