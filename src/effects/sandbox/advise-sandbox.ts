import type { Environment } from '../../protocol/environment.ts';
import type { SandboxAdvice, SandboxMode } from '../../protocol/sandbox.ts';
import { readPersonal } from '../../runbook/personal/read-personal.ts';
import { chooseMode } from '../../sandbox/choose-mode.ts';
import { surveySandboxes } from '../../sandbox/survey.ts';
import { describeRaised, findBelowFloor, raiseMode } from './apply-floor.ts';

/** Returns the sandbox that a session with this mode would have on this machine. */
export async function adviseSandbox(mode: SandboxMode, env: Environment): Promise<SandboxAdvice> {
  const { value, path } = readPersonal(env);
  const personal = { ...value, path };
  const raised = raiseMode(mode, personal);
  const isContainer = raised === 'container';
  const chosen = chooseMode(raised, await surveySandboxes(env, isContainer), isContainer);
  if (!chosen.ok) return { kind: null, notes: [`${chosen.problem.message}. ${chosen.problem.hint}`] };
  const tooWeak = findBelowFloor(chosen.kind, personal);
  if (tooWeak !== undefined) return { kind: null, notes: [tooWeak] };
  return raised === mode
    ? chosen
    : { ...chosen, notes: [describeRaised(mode, chosen.kind, personal), ...chosen.notes] };
}
