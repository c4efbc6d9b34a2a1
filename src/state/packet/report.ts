import { excerptEnd, excerptStart } from '../runs/excerpt.ts';
import { KEPT_CHARACTERS, type SectionName, type Statement } from './statement.ts';

/** A statement before its entry is known. */
export type Report = Pick<Statement, 'section' | 'title' | 'text'> & Partial<Pick<Statement, 'ref' | 'author'>>;

export function report(section: SectionName, title: string, text: string): Report {
  return { section, title: excerptStart(title, 200), text: excerptStart(text.trim(), KEPT_CHARACTERS) };
}

/** Of the output of a program the end counts. */
export function reportEnd(section: SectionName, title: string, text: string): Report {
  return { section, title: excerptStart(title, 200), text: excerptEnd(text.trim(), KEPT_CHARACTERS) };
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
