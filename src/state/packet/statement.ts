/**
 * The sections of a context packet, in the order of display. `kept`: how many statements of a section the state keeps
 * per task, newest first; the ledger has all. `urgency`: which section gets room first if not everything fits.
 */
export const SECTIONS = {
  record: { title: 'Thought records', kept: 6, urgency: 3 },
  ending: { title: 'How earlier sessions ended', kept: 12, urgency: 7 },
  tried: { title: 'Decided, tried and failed', kept: 6, urgency: 6 },
  log: { title: 'Tips and warnings', kept: 8, urgency: 9 },
  question: { title: 'Questions', kept: 12, urgency: 4 },
  finding: { title: 'Findings', kept: 8, urgency: 1 },
  check: { title: 'Failed checks and merges', kept: 6, urgency: 2 },
  error: { title: 'Errors that agents reported', kept: 6, urgency: 5 },
  people: { title: 'Notes and answers from people', kept: 16, urgency: 0 },
  measured: { title: 'Reported and measured', kept: 6, urgency: 8 },
  handoff: { title: 'Handoffs', kept: 6, urgency: 10 },
  progress: { title: 'Progress', kept: 4, urgency: 11 },
} as const;

export type SectionName = keyof typeof SECTIONS;
export const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

/** What an agent, a person or a gate reported about a task, for the next reader. */
export interface Statement {
  readonly seq: number;
  readonly at: string;
  readonly section: SectionName;
  /** The author's name for people: `ada (implementer)`, `operator:ann`, `Baton (ci)`. */
  readonly author: string;
  /** The title, in Baton's own words. */
  readonly title: string;
  /** The author's words, which are data. Never longer than `KEPT_CHARACTERS`. */
  readonly text: string;
  /** The id of the handoff, record or decision, if the statement is one. */
  readonly ref?: string;
}

/** How many characters of a statement the state keeps; the entry has the whole text. */
export const KEPT_CHARACTERS = 2000;

/** Per task, oldest first. */
export type Statements = Map<string, readonly Statement[]>;

export function addStatements(known: readonly Statement[], added: readonly Statement[]): readonly Statement[] {
  const all = [...known, ...added];
  const surplus = new Map<SectionName, number>();
  for (const { section } of all) surplus.set(section, (surplus.get(section) ?? -SECTIONS[section].kept) + 1);
  return all.filter(({ section }) => {
    const left = surplus.get(section) ?? 0;
    if (left > 0) surplus.set(section, left - 1);
    return left <= 0;
  });
}
