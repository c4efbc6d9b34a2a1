import type { Decision, DecisionSource } from '../runs/decision.ts';
import type { Task } from '../tasks/task.ts';
import { buildPacket, type PacketSource } from './packet.ts';
import type { SectionName, Statement } from './statement.ts';

/** The sections of the packet that a person needs for each kind of question, the most useful first. */
const EVIDENCE: Readonly<Record<DecisionSource, readonly SectionName[]>> = {
  stop: ['question', 'check', 'progress', 'ending', 'people'],
  idle: ['question', 'progress', 'check', 'ending', 'people'],
  dead: ['ending', 'error', 'check', 'progress', 'people'],
  error: ['error', 'ending', 'check', 'question', 'tried', 'people'],
  gate: ['check', 'ending', 'question', 'people'],
  prompt: ['question', 'people'],
  review: ['finding', 'check', 'handoff', 'measured', 'record', 'question', 'error', 'people'],
  merge: ['check', 'finding', 'handoff', 'measured', 'record', 'question', 'people'],
  reconcile: ['record', 'ending', 'people'],
  budget: ['progress', 'measured', 'ending', 'people'],
  integrity: ['record', 'ending'],
};

export interface DecisionEvidence {
  readonly task: Task;
  readonly goal: string;
  readonly items: readonly Statement[];
}

/** Selects what a person needs to answer a question about a task; undefined for other questions. */
export function findEvidence(
  source: PacketSource,
  decision: Decision,
  taskId: string | null,
): DecisionEvidence | undefined {
  const task = source.tasks.get(taskId ?? '');
  if (task === undefined) return undefined;
  const { goal: words, author, issue, sections } = buildPacket(source, task);
  const goal = [`By ${author}:`, words, ...(issue === null ? [] : [`By ${issue.from}:`, issue.text])].join('\n\n');
  const itemsOf = (name: SectionName): readonly Statement[] =>
    sections.find((section) => section.name === name)?.items ?? [];
  const recordedAt = itemsOf('record')[0]?.seq ?? 0;
  const items = EVIDENCE[decision.source].flatMap((name) => {
    const telling = itemsOf(name).filter(
      (item) =>
        !isRepeated(decision, item) && !(decision.source === 'review' && isOutdated(task.flow, item, recordedAt)),
    );
    return telling.slice(0, MOST[name] ?? MOST_OF_A_SECTION);
  });
  return { task, goal, items };
}

const MOST_OF_A_SECTION = 2;
/** Sections of which only the newest statement counts. */
const MOST: Partial<Readonly<Record<SectionName, number>>> = { record: 1, finding: 1 };

/**
 * Reports whether a statement repeats the question: its own answer is no evidence, and a text that the question quotes
 * is not repeated. Some titles need a text.
 */
function isRepeated(decision: Decision, { ref, section, text }: Statement): boolean {
  if (text === '') return section === 'people' || section === 'measured';
  return ref === decision.id || decision.context.includes(text);
}

/**
 * Reports whether a statement is outdated: a failed check says nothing about later commits, and a finding nothing after
 * the approval.
 */
function isOutdated({ approval }: Task['flow'], { section, seq }: Statement, recordedAt: number): boolean {
  return (section === 'check' && seq < recordedAt) || (section === 'finding' && approval !== null);
}
