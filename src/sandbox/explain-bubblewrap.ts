/** Why a mode does not work here, and what to do about it. */
export interface NotUsable {
  readonly works: false;
  readonly reason: string;
  readonly fix: string;
}

export interface BubblewrapFailure {
  /** What bubblewrap printed; undefined if it was not found. */
  readonly stderr: string | undefined;
  readonly platform: string;
  /** The values of kernel settings; undefined for those that this kernel does not have. */
  readonly sysctl: (name: string) => string | undefined;
  readonly isContainer: boolean;
  /** The text of `/etc/os-release`. */
  readonly osRelease: string;
}

export function explainBubblewrap({ stderr, platform, sysctl, isContainer, osRelease }: BubblewrapFailure): NotUsable {
  if (platform !== 'linux')
    return notUsable('bubblewrap needs Linux', 'Use a Linux machine, a VM, or sandbox = "container".');
  if (stderr === undefined) return notUsable('bubblewrap is not installed', `Install it: ${installCommand(osRelease)}`);
  const setting = SETTINGS.find(({ name, bad }) => sysctl(name) === bad);
  if (setting !== undefined && !isContainer)
    return notUsable(`${setting.reason} (${setting.name} = ${setting.bad})`, setting.fix);
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

const SETTINGS: readonly {
  readonly name: string;
  readonly bad: string;
  readonly reason: string;
  readonly fix: string;
}[] = [
  {
    name: 'kernel.unprivileged_userns_clone',
    bad: '0',
    reason: 'this machine allows user namespaces only to root',
    fix: 'Allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    name: 'user.max_user_namespaces',
    bad: '0',
    reason: 'this machine allows no user namespaces',
    fix: 'Allow them: sudo sysctl -w user.max_user_namespaces=15000',
  },
  {
    name: 'kernel.apparmor_restrict_unprivileged_userns',
    bad: '1',
    reason: 'AppArmor allows user namespaces only to programs with a profile',
    fix: "Give bubblewrap one: printf 'abi <abi/4.0>,\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\\n' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap",
  },
];

export const KERNEL_SETTINGS: readonly string[] = SETTINGS.map(({ name }) => name);

function installCommand(osRelease: string): string {
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].map(([, words = '']) => ` ${words} `).join('');
  return (
    INSTALL.find(([id]) => ids.includes(` ${id} `))?.[1] ??
    'sudo apt-get install bubblewrap, or its like on this system'
  );
}

const INSTALL: readonly (readonly [string, string])[] = [
  ['debian', 'sudo apt-get install bubblewrap'],
  ['ubuntu', 'sudo apt-get install bubblewrap'],
  ['fedora', 'sudo dnf install bubblewrap'],
  ['rhel', 'sudo dnf install bubblewrap'],
  ['arch', 'sudo pacman -S bubblewrap'],
  ['suse', 'sudo zypper install bubblewrap'],
  ['opensuse', 'sudo zypper install bubblewrap'],
  ['alpine', 'sudo apk add bubblewrap'],
  ['nixos', 'nix-env -iA nixos.bubblewrap'],
];

function notUsable(reason: string, fix: string): NotUsable {
  return { works: false, reason, fix };
}
