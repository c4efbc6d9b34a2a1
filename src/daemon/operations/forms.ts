import type { Answer } from '../../api/answer.ts';
import type { InputOf, ResultOf } from '../../api/operations/registry.ts';
import { formGet } from '../../api/operations/writeback.ts';
import { buildForms, type Form, type FormFacts, renderForms } from '../../effects/sessions/forms.ts';
import { findSha } from '../../git/repository.ts';
import type { Workflow } from '../../protocol/handoff/extend-workflow.ts';
import type { Caller } from '../../state/caller.ts';
import { decided, type Outcome, refusal } from '../../state/outcome.ts';
import type { SessionPreparation, State } from '../../state/state.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import type { Task } from '../../state/tasks/task.ts';
import { answerFor, type Call, handlerFor, refusalOf } from './call.ts';
import { findOwnWorktree } from './exit.ts';

export const formHandler = handlerFor(formGet, async (call) => readForms(call, call.input));

/** Returns the forms of this kind with current values: the worktree's head may have moved since the session started. */
export async function readForms(
  { caller, project, services }: Call,
  wanted: InputOf<'form_get'>,
): Promise<Answer<ResultOf<'form_get'>>> {
  const settled = await project.commandLoop.read(({ state }) => findSubject(state, caller, wanted.task_id));
  if (!settled.ok) return refusalOf(settled);
  if (!settled.answer.ok) return refusalOf(settled.answer);
  const subject = settled.answer.answer;
  const { workflow } = services.rulebook.runbookFor(subject.task);
  const place = await readPlace(project.path, subject);
  const forms = buildForms({ ...subject, ...place, workflow, at: services.now().toISOString() });
  return answerFor(selectForms(forms, wanted, subject, workflow), (text) => ({ task_id: subject.task.id, text }));
}

interface FormSubject extends Pick<FormFacts, 'task' | 'role'> {
  readonly prepared: SessionPreparation | undefined;
}

function findSubject(state: State, caller: Caller, named: string | undefined): Outcome<FormSubject> {
  const id = named ?? (caller.kind === 'session' ? caller.taskId : undefined);
  if (id === undefined)
    return refusal('no-claim', 'a form needs a task', 'Name the task, or claim one: baton task claim ID');
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  const { claim, nextRole } = task;
  const prepared = state.sessions.get(claim?.sessionId ?? '')?.prepared;
  return decided([], { task, role: claim === null ? nextRole : claim.role, prepared });
}

/** A manual claim may have a worktree of Baton, only a branch, or nothing that Baton knows. */
async function readPlace(
  repository: string,
  { task, prepared }: FormSubject,
): Promise<Pick<FormFacts, 'workspace' | 'branch' | 'head' | 'port'>> {
  if (prepared !== undefined) {
    const { workspace, branch, base, port } = prepared;
    return { workspace, branch, port, head: (await findSha(workspace, 'HEAD')) ?? base };
  }
  const { branch } = task.flow;
  const workspace = (await findOwnWorktree(repository, { taskId: task.id, epoch: task.epoch }, task)) ?? null;
  const head = workspace === null ? await findBranchHead(repository, branch) : await findSha(workspace, 'HEAD');
  return { workspace, branch, head, port: null };
}

async function findBranchHead(repository: string, branch: string | null): Promise<string | null> {
  return branch === null ? null : findSha(repository, `refs/heads/${branch}`);
}

function selectForms(
  forms: readonly Form[],
  { kind, to }: InputOf<'form_get'>,
  { task, role }: { readonly task: Task; readonly role: string | null },
  { roles }: Workflow,
): Outcome<string> {
  const ofKind = forms.filter((form) => form.kind === kind);
  const receiver = roles.find(({ name }) => name === to)?.agent ?? to;
  const wanted = ofKind.filter((form) => receiver === undefined || form.to === receiver);
  if (wanted.length > 0) return decided([], renderForms(wanted));
  if (ofKind.length === 0) {
    const message = role === null ? `the claim on ${task.id} has no role` : `the role ${role} sends no handoffs`;
    return refusal(
      'no-such-form',
      `${message}: there is no handoff to fill in`,
      'Claim the task with the role you play.',
    );
  }
  const names = ofKind.map((form) => form.to).join(', ');
  return refusal('no-such-form', `there is no ${kind} to ${to} from the role ${role}`, `Use one of: ${names}`);
}
