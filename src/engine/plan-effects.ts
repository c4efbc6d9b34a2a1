import type { Caller } from '../state/caller.ts';
import { decide, type Command } from '../state/decide.ts';
import type { RecordedEvent } from '../state/event.ts';
import { decided, type Outcome } from '../state/outcome.ts';
import { trackReadyTasks } from '../state/tasks/ready.ts';
import type { Rules } from '../state/rules.ts';
import type { Effect } from '../state/runs/effect.ts';
import { emptyState, evolve, type State } from '../state/state.ts';
import { reactUntilQuiet } from './react-until-quiet.ts';
import { react } from './react.ts';

/** Something that would be done outside, and for whom. */
export interface PlannedEffect {
  readonly effect: Effect;
  /** The pipeline and the step that want it; null for a run of its own. */
  readonly pipeline: string | null;
  readonly step: string | null;
  /** The agent's name, where it is about one. */
  readonly agent: string | null;
}

type Start = Extract<Command, { kind: 'start-pipeline' | 'start-agent' }>;

/**
 * What a run would do, in order, if everything went well: the same decisions and the same rules, on a state of its own, in which
 * every effect succeeds at once. Nothing is recorded, and nothing happens.
 */
export function planEffects(start: Start, { rules, at }: { readonly rules: Rules; readonly at: string }) {
  const state = emptyState();
  const say = rehearsal(state, rules, at);
  const begun = say(start, OPERATOR);
  if (!begun.ok) return begun;
  const planned: PlannedEffect[] = [];
  const seen = new Set<string>();
  for (let next = findUnseen(state, seen); next !== undefined; next = findUnseen(state, seen)) {
    seen.add(next.key);
    // An agent whose run is over leaves by itself: that nobody would wait for ever is nothing to announce.
    // Nor is the moment at which a budget of time would be looked at.
    if (next.kind !== 'wait' || !UNSAID.has(next.purpose.kind)) planned.push(describe(state, next));
    for (const [command, caller] of success(next)) say(command, caller);
  }
  return decided([], planned);
}

const UNSAID: ReadonlySet<string> = new Set(['leave', 'budget']);

const OPERATOR: Caller = { kind: 'operator', name: 'plan' };
const SYSTEM: Caller = { kind: 'system', name: 'plan' };

function rehearsal(state: State, rules: Rules, at: string) {
  const ready = trackReadyTasks(state, rules);
  let ids = 0;
  const tools = { newId: () => `plan-${(ids += 1)}`, at, ready, rules };
  return (command: Command, caller: Caller): Outcome<unknown> => {
    const outcome = decide(state, command, caller, rules);
    if (!outcome.ok) return outcome;
    const record = (event: RecordedEvent | (typeof outcome.events)[number]): RecordedEvent => {
      const recorded: RecordedEvent = { ...event, seq: state.seq + 1, at, actor: 'system:plan' };
      evolve(state, recorded);
      ready.note(state, recorded);
      return recorded;
    };
    reactUntilQuiet(outcome.events.map(record), (recorded) => react(state, recorded, tools), record);
    return outcome;
  };
}

function findUnseen({ effects }: State, seen: ReadonlySet<string>): Effect | undefined {
  for (const effect of effects.values()) if (!seen.has(effect.key)) return effect;
  return undefined;
}

function describe(state: State, effect: Effect): PlannedEffect {
  const agent = 'agentId' in effect ? state.agents.get(effect.agentId) : undefined;
  const place = placeOf(effect) ?? agent?.owner ?? null;
  const run = place === null ? undefined : state.pipelines.get(place.pipelineId);
  return { effect, pipeline: run?.name ?? null, step: place?.step ?? null, agent: agent?.plan.name ?? null };
}

function placeOf(effect: Effect): { readonly pipelineId: string; readonly step: string } | undefined {
  if (effect.kind === 'prepare-workspace') return effect;
  const subject = effect.kind === 'run-command' ? effect.subject : effect.kind === 'wait' ? effect.purpose : undefined;
  return subject !== undefined && 'step' in subject
    ? { pipelineId: subject.pipeline_id, step: subject.step }
    : undefined;
}

/** What would be heard from outside if it worked. Timers are set, and nobody needs them. */
function success(effect: Effect): readonly (readonly [Command, Caller])[] {
  switch (effect.kind) {
    case 'start-agent': {
      const { agentId, start } = effect;
      const caller: Caller = { kind: 'agent', agentId };
      const signal = { signal: 'complete', exitProtocol: false, eventId: '', at: '' } as const;
      const exit = {
        kind: 'exited',
        start,
        code: 0,
        signal: null,
        timed_out: false,
        blocks_used: false,
        output: null,
      } as const;
      return [
        [{ kind: 'report-started', command: { agentId, start, supervisor: '', process: '' } }, SYSTEM],
        [{ kind: 'signal-agent', command: signal }, caller],
        [{ kind: 'report-agent', command: { agentId, report: exit } }, SYSTEM],
      ];
    }
    case 'run-command': {
      const { commandId } = effect;
      return [[{ kind: 'finish-command', command: { commandId, exitCode: 0, timedOut: false, output: null } }, SYSTEM]];
    }
    case 'prepare-workspace': {
      const { pipelineId, step, branch } = effect;
      return [[{ kind: 'prepare-workspace', command: { pipelineId, step, path: '', branch } }, SYSTEM]];
    }
    default:
      return [];
  }
}
