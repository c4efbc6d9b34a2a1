import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { type ContainerScene, countProcessesWith } from './container.cases.ts';
import { containerName, endContainer, listContainers } from './end-container.ts';

/**
 * Defines the tests of what a session in a container must not reach. `enter` runs a command in the engine's user
 * namespace.
 */
export function itHoldsItsSession(scene: ContainerScene, enter: readonly string[] = []): void {
  const { engine } = scene;

  it('gives its session the worktree, and nothing else of this machine', async () => {
    symlinkSync(scene.at('state/operator.token'), scene.at('worktree/link'));
    const { output, code } = await scene.run(
      'attacks',
      [
        'echo work > made; echo "$SECRET"; id -u; echo "$HOME"; touch /home/agent/x && echo home-writable',
        `cat ${scene.at('state/operator.token')}; cat link`,
        `echo x > ${scene.at('main/new')}; echo x > ${scene.at('main/.git/config')}; cat ${scene.at('main/file')}`,
        'echo x > /usr/x; echo x > /x; echo x > /opt/x',
        `kill -0 ${process.pid}`,
        'unshare --user true && echo NAMESPACE; mount -t tmpfs none /home/agent && echo MOUNTED',
        'head -c 9000000 /dev/zero > big',
        'exit 7',
      ].join('\n'),
    );
    expect(code).toBe(7);
    expect(output).toContain(`value of the secret\n${scene.owner.uid}\n/home/agent\nhome-writable\n`);
    expect(readFileSync(scene.at('worktree/made'), 'utf8')).toBe('work\n');
    expect(lstatSync(scene.at('worktree/made')).uid).toBe(scene.owner.uid);
    expect(output.match(/No such file or directory/g)).toHaveLength(2);
    expect(output).not.toContain('TOKEN-OF-OPERATOR');
    expect(output.match(/Read-only file system/g)).toHaveLength(5);
    expect(output).not.toContain('main\n');
    expect(existsSync(scene.at('main/new'))).toBe(false);
    expect(output).toContain('No such process');
    expect(output).not.toMatch(/NAMESPACE|MOUNTED/);
    expect(lstatSync(scene.at('worktree/big')).size).toBe(8 * 1024 * 1024);
  });

  it('bounds processes', async () => {
    const { output } = await scene.run('forks', 'i=0; while [ $i -lt 200 ]; do sleep 5 & i=$((i+1)); done; echo all');
    expect(output).toMatch(/fork|Resource temporarily unavailable/i);
    expect(output).not.toContain('all\n');
  });

  it('ends with all that it started', async () => {
    const word = `5${process.pid}.01`;
    const name = containerName('escape');
    const { argv, env } = scene.command('escape', ['/bin/sh', '-c', escapes(word)]);
    spawn(argv[0], argv.slice(1), { env, stdio: ['pipe', 'ignore', 'inherit'] });
    await until('all children run', () => countProcessesWith(word) === 5);
    expect(await listContainers(engine, scene.at('state'))).toEqual([name]);
    expect(await endContainer(engine, name)).toBeUndefined();
    expect(countProcessesWith(word)).toBe(0);
    expect(await listContainers(engine, scene.at('state'))).toEqual([]);
    expect(await endContainer(engine, name)).toBeUndefined();
    await until('the engine is done', () => countProcessesWith(name) === 0);
  });

  it('ends if its supervisor is killed', async () => {
    const word = `6${process.pid}.01`;
    const request = { command: scene.command('orphan', ['/bin/sh', '-c', escapes(word)]), engine };
    const supervisor = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', SUPERVISOR], {
      env: { ...process.env, REQUEST: JSON.stringify(request), NAME: containerName('orphan') },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await until('all children run', () => countProcessesWith(word) === 5);
    supervisor.kill('SIGKILL');
    await until('it is gone', async () => (await listContainers(engine, scene.at('state')))?.length === 0);
    expect(countProcessesWith(word)).toBe(0);
    await until('the guard is done', () => countProcessesWith(containerName('orphan')) === 0);
  });

  it('has the network namespace that it is given', async () => {
    const holder = spawn('env', [...enter, 'unshare', '--net', 'sh', '-c', 'echo $$; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve) => {
      holder.stdout.once('data', (chunk) => resolve(Number(String(chunk))));
    });
    const path = `/proc/${pid}/ns/net`;
    const namespace = readlinkSync(path);
    const { output } = await scene.run('network', 'readlink /proc/self/ns/net', { network: { path } });
    process.kill(pid, 'SIGKILL');
    expect(output).toBe(`${namespace}\n`);
  });
}

/**
 * A command that tries to survive the session's end: new session, double fork, nohup, SIGTERM ignored, no environment.
 */
function escapes(word: string): string {
  return [
    "trap '' TERM INT HUP",
    `sleep ${word} &`,
    `setsid sleep ${word} &`,
    `(setsid sh -c 'sleep ${word} &' &)`,
    `nohup sleep ${word} >/dev/null 2>&1 &`,
    `env -i /usr/bin/setsid /usr/bin/sleep ${word} &`,
    'while :; do wait; done',
  ].join('\n');
}

const SUPERVISOR = `
const { spawn } = require('node:child_process');
const { command, engine } = JSON.parse(process.env.REQUEST);
import(${JSON.stringify(join(import.meta.dirname, 'end-container.ts'))}).then(({ guardContainer }) => {
  const [program, ...args] = command.argv;
  const child = spawn(program, args, { env: command.env, detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  guardContainer(engine, process.env.NAME, child.pid);
});`;
