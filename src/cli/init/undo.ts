import { git } from '../../git/run-git.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { EXIT, type Io, type ParsedArguments } from '../command.ts';
import { reportError } from '../operation-command.ts';
import { printable } from '../text.ts';
import { type InitRecord, pathFrom } from './record.ts';

/** `baton init --undo`: removes what init wrote, unless it was edited since. */
export async function undoInit(record: InitRecord, top: string, given: ParsedArguments, io: Io): Promise<number> {
  if (record.files().length === 0) {
    const hint = 'The record of baton init is in the state folder. Delete baton.toml yourself: git rm or rm baton.toml';
    return reportError({ code: 'init/nothing-to-undo', message: 'baton init wrote nothing here', hint }, given, io);
  }
  const undone = record.undo();
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
    io.err(`${printable(shown(path))} was edited since and stays. To delete it: rm ${shellWord(shown(path))}\n`);
  for (const path of tracked)
    io.out(
      `It was committed. To commit its removal: git commit -m "chore: remove Baton" -- ${shellWord(shown(path))}\n`,
    );
  return code;
}

async function isTracked(top: string, path: string): Promise<boolean> {
  const listed = await git(['ls-files', '--error-unmatch', '--', path], { cwd: top, answers: [1] });
  return listed.ok && listed.value.code === 0;
}
