import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { fieldOf } from '../../src/protocol/shape/read-unknown.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { says } from '../models/script.ts';
import { claudeCase } from './claude-under-test.ts';
import { textIn, type ClientCase } from './client.cases.ts';
import { codexCase } from './codex-under-test.ts';
import { geminiCase } from './gemini-under-test.ts';
import { entryOf, openUser, shellOf } from './with-daemon.ts';

const bwrap = await probeBubblewrap();
const missing = bwrap.works ? '' : ` (NOT RUN: ${bwrap.reason})`;

/** What a command of the branch can find, without `$(…)`, which Gemini CLI refuses. The request has no `MARK`. */
const PROBE = [
  'echo "token=[$BATON_TOKEN] url=[$BATON_URL]"',
  'env | grep -icE "dummy|api.?key" | sed "s/.*/secrets=[&]/"',
  'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c "^BATON_TOKEN=" | sed "s/.*/others=[&]/"',
  'ls /run/baton/shell /run/baton/real 2>/dev/null | wc -l | sed "s/.*/sockets=[&]/"',
  'echo written > found.txt; git status --short; echo warn >/dev/stderr; (exit 3) || echo "MA""RK $?"',
].join('; ');

/** A reviewer's shell is separate, and its hooks, tools and streams work as they do elsewhere. */
function describeJudges(clients: readonly ClientCase[]): void {
  let scene: RunScene;
  beforeEach(() => {
    scene = new RunScene();
  });
  afterEach(async () => scene.end());

  describe.skipIf(!bwrap.works).each(clients)(`a reviewer that runs $run${missing}`, (client) => {
    it('runs commands without its token, and has its hooks and tools', async ({ skip }) => {
      const script = [client.shell(PROBE), ...client.callsTool, ...Array.from({ length: 8 }, () => says('Done.'))];
      await using user = await openUser(client, script);
      scene.write(`
      exit_protocol = true
      sandbox = "bubblewrap"
      [agents.judge]
      run = "${client.run}"
      model = "${client.model}"
      prompt = "Review the task ${randomUUID()}."
      requires = ["exit"]
      on_dead = "fail"
      [workers.w]
      phases = ["REVIEW"]
      run = { agent = "judge" }`);
      await scene.start(shellOf(client, user));
      await scene.ask('task_create', { task_id: 'T001', title: 'Say hello', phase: 'REVIEW' });
      const { data } = await entryOf(scene, 'AgentStarted');
      // A client that cannot prove its verdict keeps one sandbox, and a person confirms.
      skip(fieldOf(data['judge'], 'stream') !== true, 'its calls are not matched with its output');
      expect(data['judge']).toMatchObject({ shell: true });
      const heard = (): string => user.model.asked.map(textIn).join('\n');
      await until(() => heard().includes('You must explicitly signal'), 'its stop is blocked', 45_000);
      expect(heard()).toContain('MARK 3');
      for (const line of ['token=[] url=[]', 'secrets=[0]', 'others=[0]', 'sockets=[0]'])
        expect(heard()).toContain(line);
      expect(heard()).toContain('?? found.txt');
      // Baton's answer to the call of its tool.
      expect(heard()).toMatch(/task_id/);
      expect(heard()).not.toContain('No such file');
    });
  });
}

describeJudges([claudeCase, codexCase, geminiCase]);
