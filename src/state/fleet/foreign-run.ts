import type { CommandKind } from '../../protocol/command-access.ts';
import type { Caller } from '../caller.ts';
import { refusal } from '../outcome.ts';
import { type Effect, effectKey } from '../runs/effect.ts';
import type { State } from '../state.ts';
import { effectOwner, type EffectOwner, ownerOf } from './owner.ts';

/**
 * Refuses a host's report about another host's run: process ids mean nothing elsewhere, so only the run's own host
 * reports that it started, ended, got a message or needs a user's terminal.
 */
export function findForeignRun(
  state: State,
  kind: CommandKind,
  command: unknown,
  caller: Caller,
  here: string | undefined,
): ReturnType<typeof refusal> | undefined {
  if (here === undefined || caller.kind === 'session' || caller.kind === 'agent') return undefined;
  // Each row names the fields of its own command, which `decide` has parsed.
  const owner = OWNERS[kind]?.(state, command as About, caller); // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (owner === undefined || owner === 'caretaker' || owner.host === here) return undefined;
  const message = `this run is on host ${owner.host}, not on ${here}`;
  return refusal('other-host', message, `Only that host can do this. Run the command on ${owner.host}.`);
}

/** The fields by which commands name a run or an effect of a run. */
interface About {
  readonly agentId: string;
  readonly command_id: string;
  readonly timer_id: string;
  readonly message_id: string;
  readonly pipeline_id: string;
  readonly step: string;
  readonly task_id: string;
  readonly id: string;
}

type FindOwner = (state: State, about: About, caller: Caller) => EffectOwner | undefined;

/** The owner of each command's subject; undefined if no effect is owed any more. */
const OWNERS: { readonly [K in CommandKind]?: FindOwner } = {
  'report-started': (state, { agentId }) => ownerOf(state.agents.get(agentId), state),
  'report-start-failed': (state, { agentId }) => ownerOf(state.agents.get(agentId), state),
  'report-agent': (state, { agentId }: Partial<About>, caller) =>
    ownerOf(state.agents.get(agentId ?? (caller.kind === 'supervisor' ? caller.agentId : '')), state),
  'attach-agent': (state, { agentId }) => ownerOf(state.agents.get(agentId), state),
  'finish-command': (state, { command_id }) => ownerOfKey(state, effectKey.command(command_id)),
  'fire-timer': (state, { timer_id }) => ownerOfKey(state, effectKey.timer(timer_id)),
  'deliver-message': (state, { message_id }) => ownerOfKey(state, effectKey.message(message_id)),
  'prepare-workspace': (state, { pipeline_id, step }) => ownerOfKey(state, effectKey.workspace(pipeline_id, step)),
  'workspace-failed': (state, { pipeline_id, step }) => ownerOfKey(state, effectKey.workspace(pipeline_id, step)),
  'clear-place': (state, { task_id }) => ownerOfKey(state, effectKey.clear(task_id)),
  'name-branch': (state, { id }) => ownerOfClaim(state, id),
  'prepare-session': (state, { task_id }) => ownerOfClaim(state, task_id),
};

function ownerOfKey(state: State, key: string): EffectOwner | undefined {
  const effect: Effect | undefined = state.effects.get(key);
  return effect === undefined ? undefined : effectOwner(effect, state);
}

function ownerOfClaim(state: State, taskId: string): EffectOwner | undefined {
  const claim = state.tasks.get(taskId)?.claim ?? undefined;
  return claim === undefined ? undefined : ownerOf(claim, state);
}
