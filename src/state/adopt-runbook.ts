import { event, type Event } from './event.ts';
import { decided, type Outcome } from './outcome.ts';
import { type Adoption, findAdoption } from './rules.ts';
import type { Decision } from './runs/decision.ts';
import { decisionOpenedEvent } from './runs/resolve-decision.ts';
import type { State } from './state.ts';

/** The content was stored as a blob before. */
export type AdoptRunbook = Omit<Adoption, 'at'>;

/** Puts a runbook in force, and withdraws open questions about other runbooks. */
export function decideAdoptRunbook(state: State, command: AdoptRunbook): Outcome<{ readonly adopted: boolean }> {
  if (findAdoption(state)?.sha256 === command.sha256) return decided([], { adopted: false });
  return decided([...withdrawOthers(state, null), runbookAdoptedEvent(state, command)], { adopted: true });
}

export function runbookAdoptedEvent(state: State, { sha256, ...rest }: AdoptRunbook): Event {
  const previous = findAdoption(state)?.sha256 ?? null;
  return event('RunbookAdopted', { sha256, runbook_blob: `sha256:${sha256}`, previous, ...rest });
}

/** A question about a runbook of the main branch that loosens a gate. */
export interface AskAdoption {
  readonly decisionId: string;
  readonly sha256: string;
  /** The hash of the same rules in an earlier form, by which a person may have been asked before. */
  readonly former: string;
  readonly commit: string;
  readonly differences: string;
}

/** Asks a person, once per content. A question about an older commit is withdrawn. */
export function decideAskAdoption(state: State, command: AskAdoption): Outcome<null> {
  const { decisionId, sha256, former, commit, differences } = command;
  const about = [...state.decisions.values()].filter(
    ({ adopts }) => adopts?.sha256 === sha256 || adopts?.sha256 === former,
  );
  // A person is asked again about content that was adopted and replaced, but not about content that was denied.
  const isSettled = about.some(
    ({ result }) => result === null || (result.kind === 'resolved' && result.action === 'deny'),
  );
  if (isSettled) return decided([], null);
  const short = commit.slice(0, 12);
  return decided(
    [
      ...withdrawOthers(state, sha256),
      decisionOpenedEvent(decisionId, {
        source: 'integrity',
        title: `The runbook of the main branch (${short}) loosens the rules in force`,
        context: `The rules in force stay as they are until you answer. Open workflows keep the rules they were started with.\n${differences}`,
        options: [
          { label: 'Keep the rules in force', action: 'deny' },
          { label: 'Adopt the runbook of the main branch', action: 'approve' },
        ],
        adopts: { sha256, commit },
      }),
    ],
    null,
  );
}

/** Withdraws the questions, because the main branch has no difference left to ask about. */
export function decideDropAdoptionQuestions(state: State): Outcome<null> {
  return decided(withdrawOthers(state, null), null);
}

function withdrawOthers(state: State, but: string | null): Event[] {
  const isOther = ({ adopts, result }: Decision): boolean =>
    adopts !== null && result === null && adopts.sha256 !== but;
  return [...state.decisions.values()].filter(isOther).map(({ id }) =>
    event('DecisionWithdrawn', {
      decision_id: id,
      reason: 'another runbook is in force, or another decision about one is open',
    }),
  );
}

/**
 * Reports whether a claim is held or an agent runs, so that someone other than the operator may be writing to the
 * project.
 */
export function hasSessions({ tasks, agents }: Pick<State, 'tasks' | 'agents'>): boolean {
  return (
    [...tasks.values()].some(({ claim }) => claim !== null) ||
    [...agents.values()].some(({ process }) => process === 'running')
  );
}
