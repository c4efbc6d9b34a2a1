import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listLiving, readProcFile } from '../../api/processes.ts';
import { probeBubblewrap } from '../probe.ts';
import { JudgeScene, KEY, TOKEN } from './judge-scene.cases.ts';

const answer = await probeBubblewrap();
const unless = answer.works ? '' : ` (NOT RUN: ${answer.reason})`;

/** The sources and Node, which a client needs. They may lie in a folder that the test searches. */
const ROOT = join(import.meta.dirname, '../../..');

/** The attacks and the streams are tested one by one in test/attacks/sandbox. */
describe.skipIf(!answer.works)(`the shell of a judging session${unless}`, () => {
  let scene: JudgeScene;
  beforeAll(async () => {
    scene = await JudgeScene.open();
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  it('runs commands in the worktree, with their streams and exit code', async () => {
    const printed = await scene.run(`
      const { stdout, stderr, status } = sh('cat own.txt; cat; pwd; echo oops >/dev/stderr; exit 7', { input: ' typed ' });
      console.log(JSON.stringify({ stdout: String(stdout), stderr: String(stderr), status }));
    `);
    expect(JSON.parse(printed)).toEqual({
      stdout: `own worktree typed ${scene.worktree}\n`,
      stderr: 'oops\n',
      status: 7,
    });
  });

  it('shows neither the token nor the key, the supervisor or a process of the client', async () => {
    const search = `env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'; find ~ /tmp /run "$PWD" -path '${ROOT}' -prune -o -type f -exec grep -s . {} +; ls -a ~/.client /run`;
    const [beside, aside] = [
      await scene.run(`show(spawnSync(process.execPath, ['-p', 'JSON.stringify(process.env)']))`),
      await scene.shell(search),
    ];
    const secrets = [TOKEN, KEY, 'BATON_TOKEN', 'BATON_URL'];
    expect(secrets.map((secret) => beside.includes(secret))).toEqual(secrets.map(() => true));
    expect(aside).toContain(`PWD=${scene.worktree}`);
    expect(secrets.map((secret) => aside.includes(secret))).toEqual(secrets.map(() => false));
  });

  it('ends every process of a command with the command', async () => {
    const findLeft = (): number[] => listLiving().flatMap(({ pid }) => (isMarked(pid) ? [pid] : []));
    const mark = `left-${process.pid}`;
    const isMarked = (pid: number): boolean => readProcFile(pid, 'cmdline').includes(mark);
    // The command waits until both processes run, so that they are not merely late.
    const wait = 'until [ -e one ] && [ -e two ]; do :; done';
    await scene.shell(
      `setsid sh -c 'touch one; sleep 1000' ${mark} & (sh -c 'touch two; sleep 1000' ${mark} &) ; ${wait}`,
    );
    expect(findLeft()).toEqual([]);
  });
});
