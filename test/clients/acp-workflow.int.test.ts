import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { claudeAcpCase, codexAcpCase, opencodeCase } from './acp-under-test.ts';
import { blocks } from './door.ts';
import { claudeHands, codexHands, handsOfShell } from './played-hands.ts';
import { playModel, roleIn, type PlayedRole } from './played-model.ts';
import { shellOf } from './with-daemon.ts';
import { ALL_HANDOFFS, describeTurns, entriesIn, handoffsIn, makeRepository, runBaton } from './workflow-run.ts';
import { openWorld } from './world.ts';

const AGENTS = [
  { client: opencodeCase, hands: handsOfShell(opencodeCase.shell), roles: ['issue-manager', 'fixer'] },
  { client: claudeAcpCase, hands: claudeHands, roles: ['implementer'] },
  { client: codexAcpCase, hands: codexHands, roles: ['reviewer'] },
] as const;

const RUNBOOK = `exit_protocol = true
${AGENTS.flatMap(({ client: { run, model }, roles }) =>
  roles.map((role) => `\n[agents.${role}]\nrun = "${run}"\nmodel = "${model}"\n`),
).join('')}
[[ci.required]]
name = "test"
run = "node --test"

[workflow]
smoke = "node --test"

[notify]
desktop = false
terminal = false
`;

describe('the built-in workflow with three ACP agents in its roles', () => {
  it('goes from a request to a merge, past a blocked stop and a round of changes', { timeout: 300_000 }, async () => {
    const [first, ...others] = AGENTS;
    await using user = await openWorld(first.client.startModel, playModel(first.hands), blocks(0));
    await using claudeModel = await others[0].client.startModel(playModel(others[0].hands));
    await using codexModel = await others[1].client.startModel(playModel(others[1].hands));
    const worlds = [user, { ...user, model: claudeModel }, { ...user, model: codexModel }] as const;
    for (const [index, world] of worlds.entries()) AGENTS[index]?.client.setUp(world);
    makeRepository(user, RUNBOOK);
    const shell = Object.assign(
      {},
      ...worlds.map((world, index) => shellOf(AGENTS[index]?.client ?? first.client, world)),
    );
    const baton = async (...args: string[]) => runBaton(user, shell, args);
    try {
      const ran = await baton('run', 'issue', 'Read durations back');
      const turns = worlds.map(({ model }) => describeTurns(model.asked)).join('\n=====\n');
      expect(ran.code, `${ran.out}\n${turns}`).toBe(0);
      expect(handoffsIn(ran.out)).toEqual(ALL_HANDOFFS);
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', user.project, ...args], { encoding: 'utf8' }).trim();
      expect(git('rev-list', '--count', 'main')).toBe('2');
      expect(git('show', 'main:src/parse-duration.js')).toContain('throw new RangeError');
      expect(git('show', 'main:test/parse-duration.test.js')).toContain('is an error');
      expect(git('status', '--porcelain')).toBe('');
      expect(git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
      // Each model played the roles of its agent and no others.
      const played = worlds.map(({ model }) => [...new Set(model.asked.map(roleIn))] as PlayedRole[]);
      expect(played).toEqual(AGENTS.map(({ roles }) => [...roles]));
      expect(turns).toContain('You must explicitly signal completion before stopping');
      const ledger = join(user.temporary, 'ledger.ndjson');
      expect(await baton('ledger', 'export', '-o', ledger)).toMatchObject({ code: 0 });
      const told = entriesIn(ledger);
      expect(told.filter(({ type }) => type === 'MergeFinished')).toMatchObject([
        { data: { outcome: 'merged', merge_sha: git('rev-parse', 'main') } },
      ]);
      const used = told.filter(({ type, data }) => type === 'SessionUsed' && Number(data['output_tokens']) > 0);
      expect(new Set(used.map(({ data }) => data['agent_id'])).size).toBe(5);
    } finally {
      await baton('down');
    }
    await until(() => findProcesses(user.stateDir).length === 0, 'nobody is left', 30_000);
  });
});
