import type { Workflow } from './extend-workflow.ts';
import type { Phase } from '../phase.ts';
import { choice, flag, object } from '../shape/build-shape.ts';
import { fieldsOf } from '../shape/read-unknown.ts';
import type { ValueOf } from '../shape/shape.ts';

/** `review.unseparated`: what happens to a verdict if Baton cannot prove that the judge's own client sent it. */
export const UNSEPARATED = ['ask', 'accept'] as const;
export type Unseparated = (typeof UNSEPARATED)[number];

/** How an approval came to count although nothing proves that the judge's own client sent it, as people read it. */
export const UNPROVEN_WORDS: Readonly<Record<'accepted' | 'confirmed', string>> = {
  accepted: 'not proven, accepted by `review.unseparated`',
  confirmed: 'not proven, confirmed by a person',
};

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

/**
 * The messages that state or change a verdict, by the command of the kernel, with the tool of each. `agent_signal` is
 * one, because a question in the judge's name misleads like its approval.
 */
export const VERDICT_TOOLS: ReadonlyMap<string, string> = new Map([
  ['exit-session', 'exit_signal'],
  ['submit-result', 'result_submit'],
  ['send-handoff', 'handoff_send'],
  ['record-thought', 'thought_record'],
  ['complete-task', 'task_complete'],
  ['update-task', 'task_update'],
  ['request-merge', 'merge_request'],
  ['signal-agent', 'agent_signal'],
  ['release-claim', 'task_release'],
]);

/** The tool for each message that a session owes before its exit. */
export const SEND_TOOLS: Readonly<Record<string, string>> = {
  result: 'result_submit',
  handoff: 'handoff_send',
  thought_record: 'thought_record',
  exit: 'exit_signal',
};

/** Reports whether a call states a verdict. Progress and signs of life move nothing. */
export function isVerdictCall(operation: string, input: unknown): boolean {
  if (!TOOL_NAMES.has(operation)) return false;
  const { status, kind } = fieldsOf(input);
  return (
    !(operation === 'task_update' && status === 'in_progress') && !(operation === 'agent_signal' && kind === 'continue')
  );
}

const TOOL_NAMES: ReadonlySet<string> = new Set(VERDICT_TOOLS.values());

/**
 * Reports whether the call needs the session's token, which the shell of a separated judge does not have: a verdict, and
 * the project's checks as Baton runs them.
 */
export function needsTool(operation: string, input: unknown): boolean {
  return operation === CHECK_TOOL || isVerdictCall(operation, input);
}

/** The tool that runs the project's checks on the commit that the session judges. */
export const CHECK_TOOL = 'task_check';
/** The longest time for which a session can wait for its checks. */
export const MOST_CHECK_MS = 30 * 60_000;

/** The refusal of a verdict that did not come as a tool call of the judge's own client. */
export function useTheTool(tool: string): { readonly code: string; readonly message: string; readonly hint: string } {
  return {
    code: 'unmatched-call',
    message: `Use the tool \`${tool}\``,
    hint:
      tool === CHECK_TOOL
        ? "The shell of a session that judges has no token. Call the tool of Baton's MCP server."
        : "A session that judges sends this only with Baton's MCP tools: only those calls are known to be its own.",
  };
}
