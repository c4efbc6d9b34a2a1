import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../../git/run-git.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { reportError } from '../operation-command.ts';
import { describeFileError } from '../problems.ts';
import { printable } from '../text.ts';
import { type InitRecord, pathFrom } from './record.ts';

/** Implements `baton init --undo`: removes what init wrote, unless it was edited since. */
export async function undoInit(record: InitRecord, top: string, given: ParsedArguments, io: Io): Promise<number> {
  if (record.files().length === 0) {
    const hint = existsSync(join(top, 'baton.toml'))
      ? 'To delete baton.toml, which is not in the record of the state folder: git rm or rm baton.toml'
      : 'There is no baton.toml. To write one: baton init';
    return reportError({ code: 'init/nothing-to-undo', message: 'baton init wrote nothing here', hint }, given, io);
  }
  const undone = undoOrProblem(record, top);
  if ('code' in undone) return reportError(undone, given, io);
  const tracked: string[] = [];
  for (const path of undone.removed) if (await isTracked(top, path)) tracked.push(path);
  const code = undone.edited.length === 0 ? EXIT.ok : EXIT.failed;
  if (given.options.has('json')) {
    io.out(`${JSON.stringify({ ...undone, committed: tracked })}\n`);
    return code;
  }
  const shown = (path: string): string => pathFrom(io.cwd, top, path);
  for (const path of undone.removed) io.out(`Removed ${printable(shown(path))}.\n`);
  for (const path of undone.missing) io.out(`${printable(shown(path))} was gone already.\n`);
  for (const path of undone.edited)
    io.err(
      `${printable(shown(path))} was edited after init wrote it, so it is kept. To delete it: rm ${shellWord(shown(path))}\n`,
    );
  for (const path of tracked)
    io.out(
      `It was committed. To commit its removal: git commit -m "chore: remove Baton" -- ${shellWord(shown(path))}\n`,
    );
  return code;
}

function undoOrProblem(record: InitRecord, top: string) {
  try {
    return record.undo();
  } catch (error) {
    const message = `cannot remove the files of baton init in ${top}: ${describeFileError(error)}`;
    return { code: 'init/cannot-write', message, hint: 'Correct that, then: baton init --undo' } as const;
  }
}

async function isTracked(top: string, path: string): Promise<boolean> {
  const listed = await git(['ls-files', '--error-unmatch', '--', path], { cwd: top, answers: [1] });
  return listed.ok && listed.value.code === 0;
}
