import type { CliCommand, Io } from './command.ts';
import { EXIT } from './command.ts';
import { COMMANDS } from './commands.ts';
import { parseArgs } from './parse-args.ts';
import { processIo } from './process-io.ts';

/** The whole of `baton`: finds the command, loads it, runs it. Resolves to the exit code. */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const listed = COMMANDS.find(({ name }) => isPrefix(name.split(' '), argv));
  if (listed === undefined) return answerWithoutCommand(argv, io);
  const command = await listed.load();
  try {
    return await run(command, argv.slice(command.name.split(' ').length), io);
  } catch (error) {
    // A full disk, a folder where a file should be: people get the sentence, not the place in our code.
    const { printable } = await import('./text.ts');
    const { describeError: describeFailure } = await import('./problems.ts');
    io.err(`Error: ${printable(describeFailure(error))}\n`);
    return EXIT.failed;
  }
}

async function run(command: CliCommand, argv: readonly string[], io: Io): Promise<number> {
  const parsed = parseArgs(command, argv);
  if (parsed.kind === 'given') return command.run(parsed.given, io);
  const { renderCommandHelp: commandHelp, renderUsage: usageOf } = await import('./help.ts');
  if (parsed.kind === 'help') {
    io.out(commandHelp(command));
    return EXIT.ok;
  }
  io.err(`Error: ${parsed.problem}\nUsage: ${usageOf(command)}\nTry: baton ${command.name} --help\n`);
  return EXIT.usage;
}

async function answerWithoutCommand(argv: readonly string[], io: Io): Promise<number> {
  const { renderOverviewHelp: overviewHelp } = await import('./help.ts');
  const [first = '--help', second = '--help'] = argv;
  if (first === '--version' || first === '-V') {
    const { VERSION } = await import('./version.ts');
    io.out(`${VERSION}\n`);
    return EXIT.ok;
  }
  if (first === 'help' && argv.length > 1) return main([...argv.slice(1), '--help'], io);
  if (isHelp(first)) {
    io.out(overviewHelp(COMMANDS));
    return EXIT.ok;
  }
  const isGroup = COMMANDS.some(({ name }) => name.startsWith(`${first} `));
  if (isGroup && isHelp(second)) {
    io.out(overviewHelp(COMMANDS, first));
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

function isPrefix(words: readonly string[], argv: readonly string[]): boolean {
  return words.every((word, i) => argv[i] === word);
}
