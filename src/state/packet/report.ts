import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { excerptEnd, excerptStart } from '../runs/excerpt.ts';
import { oneLine } from './describe-message.ts';
import { KEPT_CHARACTERS, type SectionName, type Statement } from './statement.ts';

/** A statement without its entry's fields. */
export type Report = Pick<Statement, 'section' | 'title' | 'text'> & Partial<Pick<Statement, 'ref' | 'author'>>;

/**
 * Runs of invisible characters become shorter, so this reads more than is kept. It does not read all, because it runs
 * for each entry.
 */
const READ_CHARACTERS = 4 * KEPT_CHARACTERS;

export function report(section: SectionName, title: string, text: string): Report {
  const read = showInvisible(text.slice(0, READ_CHARACTERS).trim());
  return { section, title: titleOf(title), text: excerptStart(read, KEPT_CHARACTERS) };
}

/** Reports a program's output, of which the end is kept. */
export function reportEnd(section: SectionName, title: string, text: string): Report {
  const read = showInvisible(text.slice(-READ_CHARACTERS).trim());
  return { section, title: titleOf(title), text: excerptEnd(read, KEPT_CHARACTERS) };
}

function titleOf(title: string): string {
  return excerptStart(showInvisible(oneLine(title)), 200);
}
