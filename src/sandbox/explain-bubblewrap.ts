import { asRoot, installCommand } from './install-command.ts';

/** Why a mode does not work here, and how to fix it. */
export interface NotUsable {
  readonly works: false;
  readonly reason: string;
  readonly fix: string;
}

export interface BubblewrapFailure {
  /** The output of bubblewrap; undefined if the program was not found. */
  readonly stderr: string | undefined;
  readonly platform: string;
  /** The values of kernel settings; undefined for settings that this kernel lacks. */
  readonly sysctl: (name: string) => string | undefined;
  readonly isContainer: boolean;
  readonly isRoot: boolean;
  /** The text of `/etc/os-release`. */
  readonly osRelease: string;
}

export function explainBubblewrap(failure: BubblewrapFailure): NotUsable {
  const { stderr, platform, sysctl, isContainer, isRoot, osRelease } = failure;
  if (platform !== 'linux')
    return notUsable('bubblewrap needs Linux', 'Use a Linux machine, a VM, or sandbox = "container".');
  if (stderr === undefined)
    return notUsable('bubblewrap is not installed', `Install it: ${installCommand('bubblewrap', osRelease, isRoot)}`);
  const setting = SETTINGS.find(({ name, bad }) => sysctl(name) === bad);
  if (setting !== undefined && !isContainer)
    return notUsable(`${setting.reason} (${setting.name} = ${setting.bad})`, setting.fix(isRoot));
  const printed = stderr.trim().split('\n').at(-1) ?? '';
  if (isContainer)
    return notUsable(
      `this container allows no sandbox inside it (${printed})`,
      'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined and, for docker, --security-opt systempaths=unconfined or, for podman, --security-opt unmask=ALL; or run Baton outside.',
    );
  return notUsable(
    `bubblewrap failed: ${printed}`,
    'Run bubblewrap by hand: bwrap --unshare-user --unshare-pid --ro-bind / / --proc /proc true',
  );
}

const PROFILE = String.raw`printf 'abi <abi/4.0>,\nprofile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\n'`;

const SETTINGS: readonly {
  readonly name: string;
  readonly bad: string;
  readonly reason: string;
  readonly fix: (isRoot: boolean) => string;
}[] = [
  {
    name: 'kernel.unprivileged_userns_clone',
    bad: '0',
    reason: 'this machine allows user namespaces only to root',
    fix: (isRoot) => `Allow them: ${asRoot('sysctl -w kernel.unprivileged_userns_clone=1', isRoot)}`,
  },
  {
    name: 'user.max_user_namespaces',
    bad: '0',
    reason: 'this machine allows no user namespaces',
    fix: (isRoot) => `Allow them: ${asRoot('sysctl -w user.max_user_namespaces=15000', isRoot)}`,
  },
  {
    name: 'kernel.apparmor_restrict_unprivileged_userns',
    bad: '1',
    reason: 'AppArmor allows user namespaces only to programs with a profile',
    fix: (isRoot) =>
      `Give bubblewrap one: ${PROFILE} | ${asRoot('tee /etc/apparmor.d/bwrap', isRoot)} && ${asRoot('apparmor_parser -r /etc/apparmor.d/bwrap', isRoot)}`,
  },
];

export const KERNEL_SETTINGS: readonly string[] = SETTINGS.map(({ name }) => name);

function notUsable(reason: string, fix: string): NotUsable {
  return { works: false, reason, fix };
}
