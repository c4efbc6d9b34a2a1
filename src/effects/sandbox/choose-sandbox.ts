import type { AgentPlan } from '../../protocol/run-plan.ts';
import type { SandboxKind, SandboxRecord } from '../../protocol/sandbox.ts';
import { sandboxOf, type SandboxSettings } from '../../runbook/access.ts';
import { chooseMode } from '../../sandbox/choose-mode.ts';
import { findDevcontainer, type FoundDevcontainer } from '../../sandbox/container/devcontainer.ts';
import type { SandboxSurvey } from '../../sandbox/survey.ts';
import { surveySandboxes } from '../../sandbox/survey.ts';
import type { EffectContext, SessionSettings } from '../context.ts';
import { describeRaised, findBelowFloor, raiseMode } from './apply-floor.ts';

export interface ChosenSandbox {
  readonly ok: true;
  readonly kind: SandboxKind;
  readonly notes: readonly string[];
  readonly plan: SandboxSettings;
  readonly survey: SandboxSurvey | null;
  /** The adopted devcontainer. */
  readonly devcontainer: FoundDevcontainer | undefined;
}

export type SandboxChoice = ChosenSandbox | { readonly ok: false; readonly reason: string };

/**
 * Chooses the sandbox of an agent, or without one that of the project's commands. A requested mode that does not work
 * refuses the start, and so does a floor of the person that no mode reaches.
 */
export async function chooseSandbox(
  access: SessionSettings['access'],
  agent: Pick<AgentPlan, 'sandbox'> | undefined,
  { env, personal }: Pick<EffectContext, 'env' | 'personal'>,
): Promise<SandboxChoice> {
  if (personal.problem !== null) return { ok: false, reason: personal.problem };
  const asked = sandboxOf(access, agent);
  const plan = { ...asked, mode: raiseMode(asked.mode, personal) };
  const devcontainer = findDevcontainer(access.devcontainer);
  if (plan.mode === 'none') return { ok: true, kind: 'none', notes: [], plan, survey: null, devcontainer };
  const hasImage = plan.image !== undefined || devcontainer !== undefined;
  const survey = await surveySandboxes(env, plan.mode === 'container' || (plan.mode === 'auto' && hasImage));
  const chosen = chooseMode(plan.mode, survey, hasImage);
  if (!chosen.ok) return { ok: false, reason: `${chosen.problem.message}. ${chosen.problem.hint}` };
  const tooWeak = findBelowFloor(chosen.kind, personal);
  if (tooWeak !== undefined) return { ok: false, reason: tooWeak };
  const raised = plan.mode === asked.mode ? [] : [describeRaised(asked.mode, chosen.kind, personal)];
  return { ...chosen, notes: [...raised, ...chosen.notes], plan, survey, devcontainer };
}

/** The record for a process that runs with the user's rights. */
export function recordWithout(notes: readonly string[]): SandboxRecord {
  return { kind: 'none', network: 'host', limits: 'none', notes };
}
