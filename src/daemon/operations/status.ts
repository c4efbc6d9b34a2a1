import type { Answer } from '../../api/answer.ts';
import { statusGet } from '../../api/operations/runs.ts';
import { DEFAULT_LIMITS } from '../../runbook/build/build-limits.ts';
import type { Call } from './call.ts';
import { readRestarts } from '../../watchdog/restart-record.ts';
import { answerFor, handlerFor } from './handler.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { crashAttention, outboxAttention, rulesAttention, runbookAttention } from './attention.ts';
import { statusView } from './status-view.ts';

/** Everything that `baton status` shows, as of one moment. A project that is too busy to look at is reported as such, in time. */
export const statusHandler = handlerFor(statusGet, async (call) => {
  const late = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => late.resolve(STATUS_BUSY), SERVER_LIMITS.statusMs);
  try {
    return await Promise.race([readStatus(call), late.promise]);
  } finally {
    clearTimeout(timer);
  }
});

async function readStatus({ project, services }: Call): Promise<Answer> {
  const now = services.now();
  const probed = await project.storeHealth();
  const crashed = crashAttention(readRestarts(project.stateDir), now.getTime());
  const hindered = outboxAttention(project.messagesBlockedMs, project.stateDir);
  const broken = runbookAttention(services.runbook);
  const differing = rulesAttention((await project.adoptions?.readDifferences()) ?? []);
  const settled = await project.commandLoop.read(({ state }) =>
    statusView(state, {
      project,
      // A commit may have failed since.
      store: probed.writable ? project.ledger.health : probed,
      attention: [...crashed, ...hindered, ...broken, ...differing],
      loop: services.loop,
      clocks: {
        lastReports: project.lastReports,
        silenceMs: silenceLimitMs(services),
        nowMs: services.monotonicMs(),
        now,
      },
    }),
  );
  return answerFor(settled, (status) => ({ ...status, at: now.toISOString() }));
}

function silenceLimitMs({ rulebook }: Call['services']): number {
  return rulebook.runbookFor(null).limits?.silenceMs ?? DEFAULT_LIMITS.silenceMs;
}

const STATUS_BUSY: Answer = {
  ok: false,
  error: {
    code: 'project-busy',
    message: `the project has not answered within ${SERVER_LIMITS.statusMs / 1000} s: its ledger or its repository is slow or locked`,
    hint: 'Look for a program that holds the ledger or git, and at daemon.log in the state folder. Then: baton status',
  },
};
