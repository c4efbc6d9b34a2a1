import { describe, expect, it } from 'vitest';
import type { ContainerEngine } from '../protocol/sandbox.ts';
import { diagnoseSurvey } from './doctor.ts';
import type { SandboxSurvey } from './survey.ts';

const NOT = { works: false, reason: 'bwrap is not installed', fix: 'Install it: apt-get install bubblewrap' } as const;
const engine: ContainerEngine = {
  name: 'podman',
  command: ['podman'],
  isRootless: true,
  hasInit: true,
  limits: 'cgroup v2',
  seccomp: null,
};
const NOTHING: SandboxSurvey = { bubblewrap: NOT, container: NOT, user: NOT, 'sandbox-exec': NOT };
const ALL: SandboxSurvey = {
  bubblewrap: { works: true, path: '/usr/bin/bwrap', version: '0.8.0' },
  container: { works: true, engine, notes: [] },
  user: { works: true, user: { name: 'baton-agent', uid: 990, gid: 990 } },
  'sandbox-exec': NOT,
};

function lines(...args: Parameters<typeof diagnoseSurvey>): readonly string[] {
  return diagnoseSurvey(...args).map(({ name, ok, detail, fix }) =>
    [name, ok ? 'ok' : 'not', detail, fix ?? ''].join('|'),
  );
}

describe('the sandboxes of a machine', () => {
  it('all work', () => {
    expect(lines(ALL, { works: true })).toEqual([
      'auto|ok|sandbox = "auto" is bubblewrap here|',
      'bubblewrap|ok|bubblewrap 0.8.0, /usr/bin/bwrap|',
      'network|ok|network = "full" has a namespace of its own|',
      'container|ok|podman, rootless|',
      'user|ok|agents can run as baton-agent|',
    ]);
  });

  it('are all missing, which is a warning with a fix for each', () => {
    const found = diagnoseSurvey(NOTHING, undefined);
    expect(found.every(({ isMinor, ok }) => isMinor && !ok)).toBe(true);
    expect(lines(NOTHING, undefined)).toEqual([
      'auto|not|sandbox = "auto": no sandbox works here, and sessions run as your user|',
      'bubblewrap|not|bwrap is not installed|Install it: apt-get install bubblewrap',
      'container|not|bwrap is not installed|Install it: apt-get install bubblewrap',
      'user|not|bwrap is not installed|Install it: apt-get install bubblewrap',
    ]);
  });

  it('choose the container only for projects with an image', () => {
    expect(lines({ ...NOTHING, container: ALL.container }, undefined)[0]).toContain('if the project names an image');
  });

  it('can set up the user for agents only as root, and only once', async () => {
    const setUp = async () => 'made the user baton-agent';
    const userOf = (survey: SandboxSurvey, more: { setUp?: typeof setUp }) =>
      diagnoseSurvey(survey, undefined, more).find(({ name }) => name === 'user');
    expect(await userOf(NOTHING, { setUp })?.repair?.()).toBe('made the user baton-agent');
    expect(userOf(NOTHING, {})?.repair).toBeUndefined();
    expect(userOf(ALL, { setUp })?.repair).toBeUndefined();
  });
});
