import { EXIT, type Io, type ListedCommand } from './command.ts';
import { COMMANDS } from './commands.ts';
import { findCommand } from './help/find-command.ts';
import { parseArgs } from './parse-args.ts';
import { processIo } from './process-io.ts';
import { showSilence } from './show-elapsed.ts';

export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const listed = findCommand(argv, COMMANDS);
  try {
    return listed === undefined ? await answerWithoutCommand(argv, io) : await run(listed, argv, io);
  } catch (error) {
    const { reportUnexpected } = await import('./help/report-usage.ts');
    return reportUnexpected(error, argv, io);
  }
}

async function run(listed: ListedCommand, argv: readonly string[], io: Io): Promise<number> {
  const command = await listed.load();
  const parsed = parseArgs(command, argv.slice(listed.name.split(' ').length));
  if (parsed.kind === 'given') {
    for (const note of parsed.notes) io.err(`Note: ${note}\n`);
    const { given, pager = true } = parsed;
    const place = { ...io, json: given.options.has('json'), pager };
    using silence = command.ownsTerminal?.(given) === true ? undefined : showSilence(place);
    const done = await command.run(given, silence?.io ?? place);
    if (typeof done === 'number') return done;
    const { reportUsage } = await import('./help/report-usage.ts');
    return reportUsage({ message: done.usage, help: listed.name }, argv, io);
  }
  const { renderCommandHelp, renderUsage } = await import('./help/render-help.ts');
  if (parsed.kind === 'help') {
    await printHelp((await command.helpOn?.(parsed.args, io)) ?? renderCommandHelp(listed, command), io);
    return EXIT.ok;
  }
  const { findMeantBelow, reportUsage } = await import('./help/report-usage.ts');
  const meant = findMeantBelow(listed.name, argv, COMMANDS);
  const usage = renderUsage(listed.name, command);
  return reportUsage({ message: parsed.problem, ...(meant && { meant }), usage, help: listed.name }, argv, io);
}

async function answerWithoutCommand(argv: readonly string[], io: Io): Promise<number> {
  const [first = '--help'] = argv;
  if (first === '--version' || first === '-V') {
    const { VERSION } = await import('./version.ts');
    io.out(`${VERSION}\n`);
    return EXIT.ok;
  }
  const { findOverview, isHelp } = await import('./help/find-overview.ts');
  const help = findOverview(argv, COMMANDS);
  if (help !== undefined) {
    await printHelp(help, { ...io, pager: !argv.includes('--no-pager') });
    return EXIT.ok;
  }
  if (isHelp(first) && argv.length > 1) return main([...argv.slice(1), '--help'], io);
  const { describeUnknown, reportUsage } = await import('./help/report-usage.ts');
  return reportUsage(describeUnknown(argv, COMMANDS), argv, io);
}

/** Only a terminal has a width to fit and a pager. */
async function printHelp(text: string, io: Io): Promise<void> {
  if (!io.isTerminal) return io.out(text);
  const { hangHelp } = await import('./help/hang-help.ts');
  const { printLong } = await import('./pager.ts');
  printLong(hangHelp(text, io), io);
}
