import type { Decision, DecisionSource } from '../runs/decision.ts';
import type { Task } from '../tasks/task.ts';
import { buildPacket, type PacketSource } from './packet.ts';
import type { SectionName, Statement } from './statement.ts';

/** The parts of the packet that a person needs for a question of each kind, the most telling first. */
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

/** What a person needs to judge a question about a task; undefined if the question is not about a task. */
export function findEvidence(
  source: PacketSource,
  decision: Decision,
  taskId: string | null,
): DecisionEvidence | undefined {
  const task = source.tasks.get(taskId ?? '');
  if (task === undefined) return undefined;
  const { goal, sections } = buildPacket(source, task);
  const items = EVIDENCE[decision.source].flatMap((name) => {
    const found = sections.find((section) => section.name === name)?.items ?? [];
    // The answer to this very question is no evidence for it, and a text that the question quotes is not repeated.
    const others = found.filter(
      ({ ref, text }) => ref !== decision.id && (text === '' || !decision.context.includes(text)),
    );
    return others.slice(0, MOST_OF_A_SECTION);
  });
  return { task, goal, items };
}

const MOST_OF_A_SECTION = 2;
