import type { Workflow } from './extend-workflow.ts';
import type { Phase } from '../phase.ts';
import { choice, flag, object } from '../shape/build-shape.ts';
import type { ValueOf } from '../shape/shape.ts';

/** `review.unseparated`: what happens to a verdict if Baton cannot prove that the judge's own client sent it. */
const UNSEPARATED = ['ask', 'accept'] as const;
export type Unseparated = (typeof UNSEPARATED)[number];

/** What is known about the process of a judging session. A verdict of an unknown process asks a person. */
export const judgeShape = object({
  stream: { ...flag, about: "The client's tool calls can be matched with its own output stream." },
  shell: { ...flag, about: "The client's shell tools run in a sandbox of their own, without the session's token." },
  unseparated: {
    ...choice(UNSEPARATED),
    about: "`review.unseparated` of the person's own configuration when the process started.",
  },
});

export type Judge = ValueOf<typeof judgeShape>;

/** Reports whether no process that can be the code under judgement can send a verdict in the judge's name. */
export function isSeparated({ stream, shell }: Pick<Judge, 'stream' | 'shell'>): boolean {
  return stream && shell;
}

/**
 * Reports whether a session judges: it claims a review or a merge, or work passes from its role to the validator or the
 * closer. All other sessions are workers.
 */
export function isJudging(
  { role, phase }: { readonly role: string | null; readonly phase: Phase },
  { roles, edges }: Workflow,
): boolean {
  if (JUDGED.has(phase)) return true;
  const agents = new Set(roles.filter(({ name }) => name === role).map(({ agent }) => agent));
  return edges.some(({ from, next }) => agents.has(from) && next !== null && AFTER_A_VERDICT.has(next));
}

/** Reports whether Baton itself performs the role. Its own programs run no code of the branch with their token. */
export function isBuiltInRole({ run }: { readonly run: string }): boolean {
  return run.startsWith('builtin:');
}

const JUDGED: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);
const AFTER_A_VERDICT: ReadonlySet<string> = new Set(['validator', 'closer']);
