import type { RecordedEvent } from '../../state/event.ts';
import { hostOf } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';
import { agentFiles } from '../../supervisor/contract.ts';
import type { EffectContext } from '../context.ts';
import { inspectSupervised } from '../processes/supervised.ts';
import { killAgent } from './control.ts';

/**
 * Ends the agents of a removed host that still runs. The ledger counts them as lost, and no other host can reach them.
 */
export async function endRemovedAgents(context: EffectContext, signal: AbortSignal): Promise<void> {
  const host = context.here()?.host;
  const runs = (await context.readState((state) => listAgentsOf(state, host))) ?? [];
  const isThere = ({ id, start }: RunStart): boolean =>
    ['starting', 'running'].includes(inspectSupervised(agentFiles(context.stateDir, id), start).kind);
  await Promise.all(
    runs
      .filter(isThere)
      .map(async ({ id, start }) =>
        killAgent({ agentId: id, start, reason: 'this host was removed' }, context, signal),
      ),
  );
}

export function isRemoval(recorded: readonly RecordedEvent[], host: string | undefined): boolean {
  return recorded.some(({ type, data }) => type === 'HostRemoved' && data.host === host);
}

/** Includes agents that count as ended, because their processes may still run. */
export function listAgentsOf(state: State, host: string | undefined): readonly RunStart[] {
  const runs = [...state.agents.values()].filter((run) => host !== undefined && hostOf(run, state) === host);
  return runs.map(({ id, start }) => ({ id, start }));
}

interface RunStart {
  readonly id: string;
  readonly start: number;
}
