import type { Usable } from '../../../sandbox/probe.ts';
import type { SandboxKind } from '../../../protocol/sandbox.ts';
import type { SandboxSurvey } from '../../../sandbox/survey.ts';
import { defineCheck, type Diagnosis, ok, type Repair, warning } from '../finding.ts';

export interface SandboxFacts {
  readonly survey: SandboxSurvey;
  /** What connects a network namespace; undefined if nothing does. */
  readonly uplink: Usable | undefined;
  readonly isRoot: boolean;
}

export const sandboxCheck = defineCheck('sandbox', 'Which sandboxes work on this machine', {
  auto: ok('What `sandbox = "auto"` takes: the first of `bubblewrap`, `container` and `user` that works'),
  works: ok('This sandbox works: `bubblewrap`, `container`, `user`, or on macOS `sandbox-exec`'),
  none: warning('No sandbox works: with `sandbox = "auto"`, sessions run as your user'),
  fails: warning('This sandbox does not work, and the reason', 'sets up the user for agents, if you are root'),
  network: ok('A session can have a network of its own'),
  'no-network': warning('A session with `network = "full"` has the network of the machine'),
});

/** The first finding names the mode that `auto` selects on this machine. */
export function diagnoseSandbox({ survey, uplink, isRoot }: SandboxFacts): readonly Diagnosis[] {
  const { bubblewrap, container, user } = survey;
  const exec = survey['sandbox-exec'];
  const chosen = (['bubblewrap', 'container', 'user'] as const).find((kind) => survey[kind].works);
  return [
    describeAuto(chosen),
    describe('bubblewrap', bubblewrap, ({ path, version }) => `bubblewrap ${version}, ${path}`),
    ...(uplink === undefined ? [] : [describeUplink(uplink)]),
    describe('container', container, ({ engine }) => `${engine.name}${engine.isRootless ? ', rootless' : ''}`),
    describe('user', user, (found) => `agents can run as ${found.user.name}`, isRoot ? SET_UP : undefined),
    ...(exec.works ? [describe('sandbox-exec', exec, () => 'sandbox = "sandbox-exec" uses it')] : []),
  ];
}

const SET_UP: Repair = { kind: 'set-up-agent-user' };

function describeAuto(chosen: SandboxKind | undefined): Diagnosis {
  if (chosen === undefined) {
    const detail = 'sandbox = "auto": no sandbox works here, and sessions run as your user';
    return sandboxCheck.found('none', { name: 'auto', detail, fix: 'Set up one of the sandboxes below.' });
  }
  const condition = chosen === 'container' ? ' if the project names an image' : '';
  return sandboxCheck.found('auto', { name: 'auto', detail: `sandbox = "auto" takes ${chosen} here${condition}` });
}

function describeUplink(uplink: Usable): Diagnosis {
  const name = 'network';
  return uplink.works
    ? sandboxCheck.found('network', {
        name,
        detail: 'with network = "full", a session has a network namespace of its own',
      })
    : sandboxCheck.found('no-network', { name, detail: uplink.reason, fix: uplink.fix });
}

function describe<T>(name: SandboxKind, answer: Usable<T>, render: (found: T) => string, repair?: Repair): Diagnosis {
  return answer.works
    ? sandboxCheck.found('works', { name, detail: render(answer) })
    : sandboxCheck.found('fails', { name, detail: answer.reason, fix: answer.fix, repair });
}
