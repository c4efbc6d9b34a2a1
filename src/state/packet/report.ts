import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { excerptEnd, excerptStart } from '../runs/excerpt.ts';
import { KEPT_CHARACTERS, type SectionName, type Statement } from './statement.ts';

/** A statement before its entry is known. */
export type Report = Pick<Statement, 'section' | 'title' | 'text'> & Partial<Pick<Statement, 'ref' | 'author'>>;

/** A run of invisible characters becomes shorter, so more is read than kept; not all of it, since this runs for each entry. */
const READ_CHARACTERS = 4 * KEPT_CHARACTERS;

export function report(section: SectionName, title: string, text: string): Report {
  const read = showInvisible(text.slice(0, READ_CHARACTERS).trim());
  return { section, title: titleOf(title), text: excerptStart(read, KEPT_CHARACTERS) };
}

/** Of the output of a program the end counts. */
export function reportEnd(section: SectionName, title: string, text: string): Report {
  const read = showInvisible(text.slice(-READ_CHARACTERS).trim());
  return { section, title: titleOf(title), text: excerptEnd(read, KEPT_CHARACTERS) };
}

function titleOf(title: string): string {
  return excerptStart(showInvisible(oneLine(title)), 200);
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
