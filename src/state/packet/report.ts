import type { Result } from '../../protocol/result.ts';
import type { RecordedEvent } from '../event.ts';
import { excerptEnd, excerptStart } from '../runs/excerpt.ts';
import type { Runs } from '../runs/runs.ts';
import type { Task } from '../tasks/task.ts';
import { KEPT_CHARACTERS, type SectionName, type Statement } from './statement.ts';

/** The part of the state that statements are made of, as it is before the entry is folded. */
export interface StatementSource extends Pick<Runs, 'agents' | 'pipelines' | 'decisions'> {
  readonly tasks: ReadonlyMap<string, Task>;
  readonly sessions: ReadonlyMap<
    string,
    { readonly result?: Result; readonly exit: { readonly notes?: string } | null }
  >;
}

/** A statement without its entry. */
export type Report = Pick<Statement, 'section' | 'title' | 'text'> & Partial<Pick<Statement, 'ref' | 'author'>>;

export interface Circumstances {
  readonly source: StatementSource;
  readonly task: Task;
  readonly recorded: RecordedEvent;
}

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
