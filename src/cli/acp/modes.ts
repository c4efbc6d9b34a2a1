import { WORKFLOW_MODES, type WorkflowMode } from '../../protocol/run-plan.ts';

/** A workflow's modes in the form of ACP session modes. */
export function modesOf(currentModeId: WorkflowMode): object {
  const availableModes = WORKFLOW_MODES.map((id) => ({ id, ...MODES[id] }));
  return { currentModeId, availableModes };
}

const MODES: Readonly<Record<WorkflowMode, { readonly name: string; readonly description: string }>> = {
  autonomous: { name: 'Autonomous', description: 'You are asked only when Baton cannot decide' },
  semi: { name: 'Semi', description: 'You are asked before work, review, fixes and merge' },
  supervised: { name: 'Supervised', description: 'You are asked at every stage' },
};
