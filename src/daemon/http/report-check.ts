import type { ApiError } from '../../api/answer.ts';
import { decide } from '../../state/decide.ts';
import { event } from '../../state/event.ts';
import type { Outcome } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import type { Services } from '../operations/call.ts';
import type { GithubReport } from './github-report.ts';
import type { Project } from '../project/project.ts';

/** How many checks of this project waited for the report: each of exactly this commit, under this name, and run by nobody here. */
export async function reportCheck(
  { commandLoop: keeper }: Project,
  { newId }: Services,
  report: GithubReport,
  about: { readonly delivery: string; readonly event: string },
): Promise<number | ApiError> {
  const key = `github/${about.delivery}`;
  const known = await keeper.read(({ state }) => ({
    isKnown: state.settled.has(key),
    waits: findWaitingTasks(state, report).length,
  }));
  if (!known.ok) return STORE_UNAVAILABLE;
  if (known.answer.isKnown) return ALREADY_DELIVERED;
  if (known.answer.waits === 0) return 0;
  const settled = await keeper.submit<{ taken: number }>({
    actor: 'system:ci',
    key,
    decide: ({ state, rules }) => {
      const events = findWaitingTasks(state, report).flatMap((checksId) => {
        const output = `GitHub: ${report.outcome}${report.url === null ? '' : ` ${report.url}`}`;
        const command = {
          checksId,
          name: report.name,
          outcome: report.outcome,
          exitCode: null,
          log: null,
          output,
          handoffId: newId(),
        };
        const told = decide(state, { kind: 'finish-check', command }, { kind: 'system', name: 'ci' }, rules);
        return told.ok ? told.events : [];
      });
      const received = event('WebhookReceived', {
        delivery_id: about.delivery,
        source: 'github',
        event: about.event.slice(0, 100),
      });
      const outcome: Outcome<{ taken: number }> = {
        ok: true,
        events: [received, ...events],
        answer: { taken: events.length === 0 ? 0 : 1 },
      };
      return outcome;
    },
  });
  return settled.ok ? settled.answer.taken : STORE_UNAVAILABLE;
}

function findWaitingTasks({ tasks }: State, { name, sha }: GithubReport): string[] {
  return [...tasks.values()].flatMap(({ flow: { checks } }) => {
    const isAsked = checks?.plans.some((plan) => plan.name === name && plan.run === undefined) === true;
    return checks !== null && checks.head === sha && checks.outcome === null && isAsked ? [checks.id] : [];
  });
}

const ALREADY_DELIVERED: ApiError = {
  code: 'webhook-replayed',
  message: 'this delivery was taken into account before',
  hint: 'Have GitHub deliver anew what has happened since.',
};
const STORE_UNAVAILABLE: ApiError = {
  code: 'store-unavailable',
  message: 'the store does not answer',
  hint: 'GitHub can deliver it again.',
};
