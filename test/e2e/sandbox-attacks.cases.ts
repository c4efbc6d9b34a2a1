import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readToken, stateFiles } from '../../src/api/state-folder.ts';
import { RunScene, type Shown } from '../../src/daemon/runs.cases.ts';
import { countProcessesWith } from '../../src/sandbox/container/container.cases.ts';
import { until } from '../processes/until.ts';

/**
 * An agent that commits, tries to escape, and then tries to outlive its timeout. Baton's answers are in the file
 * `said`.
 */
export class AttackScene extends RunScene {
  readonly word = `7${process.pid}.01`;

  /** Prepares the scene. `sandbox`: the setting of a runbook. */
  prepare(sandbox: string): void {
    const env = [
      `STATE = "${this.stateDir}"`,
      `MAIN = "${this.repository}"`,
      `PID = "${process.pid}"`,
      `WORD = "${this.word}"`,
    ];
    writeFileSync(join(this.repository, 'attack.sh'), ATTACK);
    this.write(`
      sandbox = ${sandbox}
      limits = { kill_after = "500ms" }
      [agents.thief]
      run = "sh attack.sh"
      timeout = "12s"
      on_dead = "fail"
      env = { ${env.join(', ')} }
      [pipelines.attack]
      steps = [{ name = "work", workspace = { branch = "stolen", base = "main" }, run = { agent = "thief" } }]`);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', 'an agent');
  }

  git(...args: string[]): string {
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@t'];
    return execFileSync('git', ['-C', this.repository, ...author, ...args], { encoding: 'utf8' }).trim();
  }

  /** Starts the agent, and waits until all its children run. */
  async attack(): Promise<{ readonly pipeline: string; readonly agent: string; readonly worktree: string }> {
    const pipeline = await this.run('attack');
    const agent = await this.agentIn(pipeline, 'work');
    const log = join(stateFiles(this.stateDir).agents, agent, 'output.log');
    const all = async (): Promise<boolean> => {
      const shown = await this.ask('agent_show', { id: agent });
      if (shown.process === 'exited') throw new Error(`it ended early:\n${readFileSync(log, 'utf8')}`);
      return countProcessesWith(this.word) === 5;
    };
    await until('all children run', all);
    const { workspace } = await this.ask('pipeline_show', { id: pipeline });
    return { pipeline, agent, worktree: workspace?.path ?? '' };
  }
}

/**
 * Checks that none of its attempts had an effect, and that its commit is in the repository. Returns Baton's answers.
 */
export function proveAttack(scene: AttackScene, worktree: string): string {
  const { repository } = scene;
  const said = readFileSync(join(worktree, 'said'), 'utf8');
  expect(said).toContain('HOME works');
  expect(said).not.toContain(readToken(scene.stateDir, 'operator') ?? '?');
  expect(said).not.toMatch(/PRIVATE KEY|CONNECTED|SIGNALLED/);
  expect(existsSync(join(repository, 'hacked'))).toBe(false);
  expect(existsSync(join(repository, '.git/hooks/post-merge'))).toBe(false);
  expect(readFileSync(join(repository, '.git/config'), 'utf8')).not.toContain('hacked');
  expect(scene.git('log', '-1', '--format=%s', 'main')).toBe('an agent');
  expect(scene.git('log', '-1', '--format=%s %an', 'stolen')).toBe('its work thief');
  for (const path of ['made', 'said', '.git']) expect(lstatSync(join(worktree, path)).uid).toBe(process.getuid?.());
  expect(execFileSync('git', ['-C', worktree, 'status', '--porcelain'], { encoding: 'utf8' })).not.toContain(' made');
  return said;
}

/** Waits for the end of the agent, and checks that none of its children is left. */
export async function proveEnd(scene: AttackScene, agent: string): Promise<Shown> {
  const shown = await scene.agent(agent, 30_000);
  expect(countProcessesWith(scene.word)).toBe(0);
  return shown;
}

const ATTACK = `#!/bin/sh
{
echo work > made
git add made && git -c user.name=thief -c user.email=t@t commit -qm 'its work' && git log --oneline -1
touch "$HOME/x" "$TMPDIR/x" && mkdir -p "$npm_config_cache" && touch "$npm_config_cache/x" && echo HOME works
cat "$STATE/operator.token" "$STATE/key.pem" "$STATE/worker.token"
cat "$STATE"/agents/*/launch-1.json
echo hacked > "$MAIN/hacked"
echo '[hacked]' >> "$MAIN/.git/config"
echo hacked > "$MAIN/.git/hooks/post-merge"
git update-ref refs/heads/main HEAD
git -C "$MAIN" update-ref refs/heads/main HEAD
node -e 'require("net").connect(process.env.STATE + "/daemon.sock").on("connect", () => console.log("CONNECTED")).on("error", (e) => console.log(e.code))'
kill -0 "$PID" && echo SIGNALLED
env -i PATH="$PATH" BATON_STATE_DIR="$STATE" baton task add HACKED --title hacked
baton task show
id -u
} > said 2>&1
trap '' TERM INT HUP
sleep $WORD &
setsid sleep $WORD &
(setsid sh -c "sleep $WORD &" &)
nohup sleep $WORD >/dev/null 2>&1 &
env -i /usr/bin/setsid /usr/bin/sleep $WORD &
while :; do wait; done
`;
