/** What a user types to install a package on this system. `osRelease`: the text of `/etc/os-release`. */
export function installCommand(name: string, osRelease: string, isRoot: boolean): string {
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].map(([, words = '']) => ` ${words} `).join('');
  if (ids.includes(' nixos ')) return `nix-env -iA nixos.${name}`;
  const install = INSTALL.find(([id]) => ids.includes(` ${id} `))?.[1];
  const command = asRoot(`${install ?? 'apt-get install'} ${name}`, isRoot);
  return install === undefined ? `${command}, or its like on this system` : command;
}

/** A container often has root, and no sudo. */
export function asRoot(command: string, isRoot: boolean): string {
  return isRoot ? command : `sudo ${command}`;
}

const INSTALL: readonly (readonly [string, string])[] = [
  ['debian', 'apt-get install'],
  ['ubuntu', 'apt-get install'],
  ['fedora', 'dnf install'],
  ['rhel', 'dnf install'],
  ['arch', 'pacman -S'],
  ['suse', 'zypper install'],
  ['opensuse', 'zypper install'],
  ['alpine', 'apk add'],
];
