import { event, type Event, type EventOf } from '../../state/event.ts';
import { hostOf } from '../../state/fleet/fleet.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import { abandonClaim } from '../../state/tasks/claim-task.ts';
import { stopPipeline } from '../cancel.ts';
import type { EngineContext } from '../context.ts';
import { endAgent } from '../end-agent.ts';

/**
 * On `HostRemoved`: everything that ran there is lost, so that nothing waits for a host that never returns. Its claims
 * end before all other entries, so that their tasks are not blocked but continue on other hosts, from what was pushed.
 */
export function onHostRemoved(world: EngineContext, { host, reason: why }: EventOf<'HostRemoved'>['data']): Event[] {
  const { state } = world;
  const reason = `host ${host} was removed: ${why}`;
  const isThere = (run: { readonly host: string | null }): boolean => hostOf(run, state) === host;
  const revoked = [...state.tasks.values()].flatMap((task) =>
    task.claim !== null && isThere(task.claim) ? abandonClaim(task, task.claim, 'revoked', reason) : [],
  );
  const roots = [...state.pipelines.values()].filter((run) => run.parent === null && isThere(run));
  const stopped = roots.flatMap((run) => stopPipeline(world, run, 'failed', reason));
  const ended = new Set(stopped.flatMap(({ type, data }) => (type === 'AgentEnded' ? [data.agent_id] : [])));
  const agents = [...state.agents.values()].filter(isThere);
  const alone = agents.flatMap((agent) => (ended.has(agent.id) ? [] : endAgent(world, agent, 'failed', reason)));
  return [...revoked, ...stopped, ...alone, ...agents.flatMap(lostProcess)];
}

function lostProcess({ id: agent_id, start, process }: AgentRun): Event[] {
  if (process === 'gone') return [];
  const exit = { code: null, signal: null, timed_out: false, blocks_used: false, output: null };
  return [event('AgentExited', { agent_id, start, ...exit })];
}
