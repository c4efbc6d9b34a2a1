import { problem, refused, tooLarge, type Refused } from '../protocol/shape/problem.ts';
import { utf8Length } from '../protocol/text/utf8.ts';
import { ImportFindings } from './findings.ts';
import { EXCHANGE_LIMITS } from './limits.ts';

/** The text of a reader, if it is one that can be read at all. */
export function startReading(text: string): ImportFindings | Refused {
  const bytes = utf8Length(text);
  if (bytes > EXCHANGE_LIMITS.bytes) return refused(tooLarge(bytes, EXCHANGE_LIMITS.bytes));
  if (!text.isWellFormed()) {
    return refused(problem('not-utf8', 'input is not valid Unicode', 'Save the file as UTF-8.'));
  }
  // Editors on Windows put a mark at the beginning.
  return new ImportFindings(text.startsWith('\ufeff') ? text.slice(1) : text);
}
