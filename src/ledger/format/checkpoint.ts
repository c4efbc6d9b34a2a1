import { accepted, refused, type Parsed } from '../../protocol/shape/problem.ts';
import { parseBase64, toBase64 } from './base64.ts';
import type { Sha256, Signer } from './crypto.ts';
import { ledgerProblem } from './ledger-problem.ts';
import { parseNote, signNote, type Note } from './note.ts';
import type { TreeHead } from './proof.ts';

/**
 * A C2SP `tlog-checkpoint`: which tree, how large, which root, and who says so. One extension line names the size of
 * the checkpoint before it, so that a checkpoint taken out of the row is missed.
 */
export interface Checkpoint extends TreeHead {
  readonly origin: string;
  readonly previous: number;
  readonly note: Note;
}

/** The name of a project's tree, and of the keys that sign it. */
export function originOf(project: string): string {
  return `baton/${project}`;
}

export function signCheckpoint(
  sha256: Sha256,
  project: string,
  tree: TreeHead,
  previous: number,
  signer: Signer,
): string {
  const origin = originOf(project);
  return signNote(sha256, renderCheckpoint(origin, tree, previous), origin, signer);
}

export function renderCheckpoint(origin: string, tree: TreeHead, previous: number): string {
  return `${origin}\n${tree.size}\n${toBase64(tree.root)}\nprevious ${previous}\n`;
}

/** Reads the form that `signCheckpoint` writes and no other: further lines would be bytes that nothing checks. */
export function parseCheckpoint(text: string): Parsed<Checkpoint> {
  const note = parseNote(text);
  if (!note.ok) return note;
  const [origin = '', sizeText = '', rootText = '', previousText = ''] = note.value.text.split('\n');
  const size = Number(sizeText);
  const root = parseBase64(rootText);
  const previous = Number(previousText.replace('previous ', ''));
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(previous) || root?.length !== 32) {
    return notACheckpoint();
  }
  if (previous < 0 || previous > size) return notACheckpoint();
  // Read leniently and written again: whatever is spelled differently does not come out the same.
  if (renderCheckpoint(origin, { size, root }, previous) !== note.value.text) return notACheckpoint();
  return accepted({ origin, size, root, previous, note: note.value });
}

function notACheckpoint(): Parsed<Checkpoint> {
  return refused(
    ledgerProblem(
      'ledger/bad-checkpoint',
      'the signed note is not a checkpoint of a ledger',
      'It has four lines (origin, size, root, previous) before its signatures.',
    ),
  );
}
