import { installFence } from '../../git/fence/install.ts';
import { recordOrigin } from '../../git/worktree/origin.ts';
import { renderTemplate } from '../../protocol/text/render-template.ts';
import type { Command } from '../../state/decide.ts';
import type { Effect } from '../../state/runs/effect.ts';
import type { TaskRef } from '../../state/runs/run-event.ts';
import type { State } from '../../state/state.ts';
import { prepareWorkspace, type Workspace, type WorkspaceRequest } from './prepare-workspace.ts';
import { stepContext } from '../template-context.ts';
import type { EffectContext } from '../context.ts';

type PrepareWorkspaceEffect = Extract<Effect, { kind: 'prepare-workspace' }>;

/** The worktree of a pipeline, fenced where the pipeline works under a claim. */
export async function makeWorkspace(effect: PrepareWorkspaceEffect, world: EffectContext): Promise<readonly Command[]> {
  const { pipelineId, step } = effect;
  const wanted = await world.readState((state) => fillIn(state, effect, world));
  if (wanted === undefined) return [];
  const made = wanted.ok ? await makeFencedWorktree(wanted.request, wanted.task, world) : wanted;
  if (!made.ok) return [{ kind: 'workspace-failed', command: { pipelineId, step, reason: made.reason } }];
  return [{ kind: 'prepare-workspace', command: { pipelineId, step, path: made.path, branch: made.branch } }];
}

async function makeFencedWorktree(
  request: WorkspaceRequest,
  task: TaskRef | null,
  world: EffectContext,
): Promise<Workspace> {
  const made = await prepareWorkspace(request, world);
  if (!made.ok) return made;
  const kept = await recordOrigin(world.stateDir, made.path, NOTHING);
  if (!kept.ok) return { ok: false, reason: `${kept.problem.message}. ${kept.problem.hint}` };
  if (task === null) return made;
  const { stateDir, projectId: project } = world;
  const { task_id: taskId, epoch } = task;
  const { into } = world.sessions;
  const fenced = await installFence(made.path, { stateDir, project, taskId, epoch, branch: made.branch, into });
  if (!fenced.ok) return { ok: false, reason: `${fenced.problem.message}. ${fenced.problem.hint}` };
  // Git took its time. What the fence says is what holds now, not what held when we were asked.
  await world.fence(taskId);
  return made;
}

/** What a pipeline needs in its worktree, its steps bring. */
const NOTHING = { copied: {}, linked: [] };

type WorkspacePlan =
  | { readonly ok: true; readonly request: WorkspaceRequest; readonly task: TaskRef | null }
  | { readonly ok: false; readonly reason: string };

function fillIn(state: State, effect: PrepareWorkspaceEffect, world: EffectContext): WorkspacePlan | undefined {
  const { pipelineId, step, branch, base } = effect;
  const pipeline = state.pipelines.get(pipelineId);
  if (pipeline === undefined) return undefined;
  const context = stepContext(state, pipeline, step, world);
  const name = renderTemplate(branch, context, { quote: 'none' });
  const from = renderTemplate(base ?? '', context, { quote: 'none' });
  if (!name.ok) return { ok: false, reason: name.problems.map(({ message }) => message).join('; ') };
  if (!from.ok) return { ok: false, reason: from.problems.map(({ message }) => message).join('; ') };
  const request = { pipelineId, step, branch: name.value, base: base === null ? null : from.value };
  return { ok: true, request, task: pipeline.task };
}
