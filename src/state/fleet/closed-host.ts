import type { CommandKind } from '../../protocol/command-access.ts';
import { refusal } from '../outcome.ts';
import { type FleetState, findFleet, findHost } from './fleet.ts';

/**
 * Why the deciding host must not decide the command: it was removed, or it drains and the command would begin new work
 * there.
 */
export function findClosedHost(
  state: FleetState,
  kind: CommandKind,
  here: string | undefined,
): ReturnType<typeof refusal> | undefined {
  if (here === undefined || findFleet(state) === undefined) return undefined;
  const host = findHost(state, here);
  if (host === undefined) {
    const message = state.hosts.has(here) ? `host ${here} was removed` : `host ${here} has not been admitted`;
    return refusal('host-removed', message, 'Join again: baton host join URL');
  }
  if (!host.draining || !BEGINS_WORK.has(kind)) return undefined;
  return refusal(
    'host-draining',
    `host ${here} drains: no new work begins there`,
    `End the drain: baton host drain ${here} --undo`,
  );
}

const BEGINS_WORK: ReadonlySet<CommandKind> = new Set<CommandKind>(['claim-task', 'start-agent', 'start-pipeline']);
