import { describe, expect, it } from 'vitest';
import type { ContainerEngine } from '../../../protocol/sandbox.ts';
import type { SandboxSurvey } from '../../../sandbox/survey.ts';
import { diagnoseSandbox, type SandboxFacts } from './sandbox.ts';

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

function lines(survey: SandboxSurvey, more: Partial<SandboxFacts> = {}): readonly string[] {
  return diagnoseSandbox({ survey, uplink: undefined, isRoot: false, ...more }).map(({ name, status, detail, fix }) =>
    [name, status, detail, fix ?? ''].join('|'),
  );
}

describe('the sandboxes of a machine', () => {
  it('all work', () => {
    expect(lines(ALL, { uplink: { works: true } })).toEqual([
      'auto|ok|sandbox = "auto" takes bubblewrap here|',
      'bubblewrap|ok|bubblewrap 0.8.0, /usr/bin/bwrap|',
      'network|ok|with network = "full", a session has a network namespace of its own|',
      'container|ok|podman, rootless|',
      'user|ok|agents can run as baton-agent|',
    ]);
  });

  it('are all missing, which is a warning with a fix for each', () => {
    expect(lines(NOTHING)).toEqual([
      'auto|warning|sandbox = "auto": no sandbox works here, and sessions run as your user|Set up one of the sandboxes below.',
      'bubblewrap|warning|bwrap is not installed|Install it: apt-get install bubblewrap',
      'container|warning|bwrap is not installed|Install it: apt-get install bubblewrap',
      'user|warning|bwrap is not installed|Install it: apt-get install bubblewrap',
    ]);
  });

  it('have no separate network without an uplink', () => {
    const uplink = { works: false, reason: 'there is no pasta', fix: 'Install passt.' } as const;
    expect(lines(ALL, { uplink })[2]).toBe('network|warning|there is no pasta|Install passt.');
  });

  it('choose the container only for projects with an image', () => {
    expect(lines({ ...NOTHING, container: ALL.container })[0]).toContain('if the project names an image');
  });

  it('let root set up the user for agents, once', () => {
    const repairOf = (survey: SandboxSurvey, isRoot: boolean) =>
      diagnoseSandbox({ survey, uplink: undefined, isRoot }).find(({ name }) => name === 'user')?.repair;
    expect(repairOf(NOTHING, true)).toEqual({ kind: 'set-up-agent-user' });
    expect(repairOf(NOTHING, false)).toBeUndefined();
    expect(repairOf(ALL, true)).toBeUndefined();
  });
});
