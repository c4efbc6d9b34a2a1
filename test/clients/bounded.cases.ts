import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene, type Shown } from '../../src/daemon/runs.cases.ts';
import { says, type Reply } from '../models/script.ts';
import { textIn, unless, type ClientCase } from './client.cases.ts';
import { COMPLETE, openUser, shellOf } from './with-daemon.ts';

let scene: RunScene;

export function describeBounds(clients: readonly ClientCase[]): void {
  beforeEach(() => {
    scene = new RunScene();
  });
  afterEach(async () => scene.end());

  describe.each(clients)('$run', (client) => {
    it('is resumed with a message of its own if the runbook has none', async () => {
      const script = [says('One.'), says('Two.'), client.shell(COMPLETE), says('Now.')];
      await using user = await openUser(client, script);
      scene.write(agentOf(client, 'on_stop = "signal"\n on_dead = "resume"'));
      await scene.start(shellOf(client, user));
      const id = await scene.run('coder');
      expect(await scene.agent(id, 40_000)).toMatchObject({ status: 'done', start: 2 });
      // A client that cannot load its conversation starts with its prompt.
      const begins = unless(client, 'resume') === '' ? 'Continue where you stopped.' : 'Do the task.';
      expect(textIn(user.model.asked[2])).toContain(begins);
    });

    it('is blocked no more often than limits.blocks, over all its processes and whatever it does in between', async () => {
      const busy = [1, 2, 3, 4, 5, 6].flatMap((i): Reply[] => [client.shell(`echo ${i}`), says(`That was ${i}.`)]);
      await using user = await openUser(client, busy);
      const more =
        'on_stop = { action = "signal", attempts = 2 }\n on_dead = { action = "resume", attempts = "forever" }';
      scene.write(`${agentOf(client, more)}\n[limits]\nblocks = 3`);
      await scene.start(shellOf(client, user));
      const id = await scene.run('coder');
      expect(await scene.agent(id, 40_000)).toMatchObject({ status: 'escalated' });
      expect((await scene.types()).filter((type) => type === 'AgentBlocked')).toHaveLength(3);
      expect(await decision()).toMatchObject({ source: 'dead' });
    });

    it('whose model does not answer is asked about, and continues after a restart', async () => {
      const script: Reply[] = [client.shell('echo 1'), { kind: 'silence' }, client.shell(COMPLETE), says('Now.')];
      await using user = await openUser(client, script);
      scene.write(`${agentOf(client, 'on_stop = "signal"')}\n[limits]\nsilence = "${client.silence ?? '8s'}"`);
      await scene.start(shellOf(client, user));
      const id = await scene.run('coder');
      expect(await scene.agent(id, 40_000)).toMatchObject({ status: 'escalated', process: 'running' });
      const asked = await decision();
      expect(asked).toMatchObject({ source: 'idle', context: expect.stringContaining('silent for') });
      await scene.ask('decision_resolve', { id: asked?.id, option: 1 });
      expect(await scene.agent(id, 40_000)).toMatchObject({ status: 'done', start: 2 });
      expect(textIn(user.model.asked.at(-1))).toContain('You were restarted');
    });
  });
}

async function decision(): Promise<Shown | undefined> {
  return (await scene.ask<{ decisions: Shown[] }>('decision_list')).decisions[0];
}

function agentOf({ run, model }: ClientCase, more: string): string {
  return `
    [agents.coder]
    run = "${run}"
    model = "${model}"
    prompt = "Do the task."
    timeout = "80s"
    ${more}`;
}
