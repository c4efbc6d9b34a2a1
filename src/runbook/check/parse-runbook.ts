import { accepted, problem, refused, type Parsed } from '../../protocol/shape/problem.ts';
import { decodeUtf8, byteLengthOf } from '../../protocol/text/utf8.ts';
import { checkRunbook, oversizedFile } from './check-runbook.ts';
import type { Runbook } from '../runbook.ts';

/** One file as a whole runbook, for `baton validate`: what it names must be in it. */
export function parseRunbook(input: string | Uint8Array, file: string): Parsed<Runbook> {
  const [tooLarge] = oversizedFile(file, byteLengthOf(input));
  if (tooLarge !== undefined) return refused(tooLarge);
  const text = decodeUtf8(input);
  if (text === undefined) return refused(problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.'));
  const checked = checkRunbook([{ path: file, text }]);
  return checked.ok ? accepted(checked.value) : checked;
}
