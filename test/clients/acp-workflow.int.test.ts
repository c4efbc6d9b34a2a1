import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { textOf } from '../../src/protocol/shape/read-unknown.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { claudeAcpCase, codexAcpCase, opencodeCase } from './acp-under-test.ts';
import type { ClientCase } from './client.cases.ts';
import { blocks } from './door.ts';
import { claudeHands, codexAcpHands, type Hands, handsOfShell } from './played-hands.ts';
import { playModel, roleIn, type PlayedRole } from './played-model.ts';
import { shellOf } from './with-daemon.ts';
import { ALL_HANDOFFS, describeTurns, entriesIn, makeRepository, runAndConfirm, runBaton } from './workflow-run.ts';
import { openWorld } from './world.ts';

interface Played {
  readonly client: ClientCase;
  readonly hands: Hands;
  readonly roles: readonly PlayedRole[];
}

const opencode = { client: opencodeCase, hands: handsOfShell(opencodeCase.shell, 'baton_') };
const claude = { client: claudeAcpCase, hands: claudeHands };
const codex = { client: codexAcpCase, hands: codexAcpHands };

/** Two of them review. ACP does not prove who sent a verdict, so a person confirms each approval. */
const CASES: readonly { readonly reviewer: string; readonly agents: readonly [Played, ...Played[]] }[] = [
  {
    reviewer: 'codex-acp',
    agents: [
      { ...opencode, roles: ['issue-manager', 'fixer'] },
      { ...claude, roles: ['implementer'] },
      { ...codex, roles: ['reviewer'] },
    ],
  },
  {
    reviewer: 'opencode',
    agents: [
      { ...opencode, roles: ['reviewer'] },
      { ...claude, roles: ['issue-manager', 'implementer', 'fixer'] },
    ],
  },
];

const runbookOf = (agents: readonly Played[]): string => `exit_protocol = true
${agents
  .flatMap(({ client: { run, model }, roles }) =>
    roles.map((role) => `\n[agents.${role}]\nrun = "${run}"\nmodel = "${model}"\n`),
  )
  .join('')}
[[ci.required]]
name = "test"
run = "node --test"

[workflow]
smoke = "node --test"

[notify]
desktop = false
terminal = false
`;

describe('the built-in workflow with ACP agents in its roles', () => {
  it.each(CASES)(
    'goes from a request to a merge, past a blocked stop, a refusal of $reviewer, and its approval that a person confirms',
    async ({ agents }) => {
      const [first, ...others] = agents;
      await using user = await openWorld(first.client.startModel, playModel(first.hands), blocks(0));
      await using models = new AsyncDisposableStack();
      const worlds = [user];
      for (const { client, hands } of others) {
        const model = await client.startModel(playModel(hands));
        models.use(model);
        worlds.push({ ...user, model });
      }
      for (const [index, world] of worlds.entries()) agents[index]?.client.setUp(world);
      makeRepository(user, runbookOf(agents));
      const shell = Object.assign({}, ...worlds.map((world, index) => shellOf((agents[index] ?? first).client, world)));
      const baton = async (...args: string[]) => runBaton(user, shell, args);
      try {
        const ran = await runAndConfirm(baton, 'issue', 'Read durations back');
        const turns = worlds.map(({ model }) => describeTurns(model.asked)).join('\n=====\n');
        expect(ran.code, `${ran.out}\n${turns}`).toBe(0);
        // The refusal moved the work by itself. The question about the approval says who cannot prove what.
        expect(ran.asked.map(({ context }) => context)).toEqual([
          expect.stringContaining('its client cannot prove who sent this verdict'),
        ]);
        expect(ran.asked[0]?.context).toContain('summary: It does what the issue asks');
        expect(ran.asked[0]?.options.find(({ action }) => action === 'approve')?.recommended).toBe(false);
        const git = (...args: string[]) =>
          execFileSync('git', ['-C', user.project, ...args], { encoding: 'utf8' }).trim();
        expect(git('rev-list', '--count', 'main')).toBe('2');
        expect(git('show', 'main:src/parse-duration.js')).toContain('throw new RangeError');
        expect(git('show', 'main:test/parse-duration.test.js')).toContain('is an error');
        expect(git('status', '--porcelain')).toBe('');
        expect(git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
        // Each model played the roles of its agent and no others.
        const played = worlds.map(({ model }) => new Set(model.asked.map(roleIn)));
        expect(played).toEqual(agents.map(({ roles }) => new Set(roles)));
        expect(turns).toContain('You must explicitly signal completion before stopping');
        expect(turns).toContain('"name":"test","passed":true');
        const ledger = join(user.temporary, 'ledger.ndjson');
        expect(await baton('ledger', 'export', '-o', ledger)).toMatchObject({ code: 0 });
        const told = entriesIn(ledger);
        const of = (type: string) => told.filter((each) => each.type === type).map(({ data }) => data);
        expect(
          of('HandoffDelivered').map(({ from, to }) => `${textOf(from)} → ${textOf(to ?? 'workflow-complete')}`),
        ).toEqual(ALL_HANDOFFS);
        expect(of('MergeFinished')).toMatchObject([{ outcome: 'merged', merge_sha: git('rev-parse', 'main') }]);
        expect(of('VerdictUnproven')).toMatchObject([{ because: 'client', held: {} }]);
        const used = of('SessionUsed').filter(({ output_tokens }) => Number(output_tokens) > 0);
        expect(new Set(used.map(({ agent_id }) => agent_id)).size).toBe(5);
      } finally {
        await baton('down');
      }
      await until(() => findProcesses(user.stateDir).length === 0, 'nobody is left', 30_000);
    },
    300_000,
  );
});
