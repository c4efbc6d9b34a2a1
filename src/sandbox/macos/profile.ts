import type { Mount, NetworkSpec } from '../../protocol/sandbox.ts';

export interface ProfileRequest {
  /** The mounts of the plan. Nothing is mounted on macOS: a path is allowed or denied in place. */
  readonly mounts: readonly Mount[];
  /** Folders that are denied except for what the mounts show: HOME, the state folder, the repository. */
  readonly closed: readonly string[];
  readonly network: Pick<NetworkSpec, 'policy' | 'local'>;
  /** Ports of this machine that the session needs, such as those of Baton's proxy. */
  readonly ports: readonly number[];
  /** Sockets that the session needs, such as its supervisor's socket. */
  readonly sockets: readonly string[];
}

/** Renders a profile for `sandbox-exec -f`. As with mounts, the last matching rule applies. */
export function renderProfile({ mounts, closed, network, ports, sockets }: ProfileRequest): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (subpath "/dev/fd") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys"))',
    ...closed.map((path) => `(deny file-read* ${subpath(path)})`),
    // Programs read the metadata of each folder on the path to a file.
    '(allow file-read-metadata)',
    ...mounts.flatMap(renderMount),
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    // Denies the keychain.
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
    ...renderNetwork(network, ports, sockets),
    '',
  ].join('\n');
}

function renderMount(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return [`(allow file-read* ${subpath(mount.from)})`, `(deny file-write* ${subpath(mount.from)})`];
    case 'write':
      return [`(allow file-read* file-write* ${subpath(mount.from)})`];
    case 'empty':
    case 'masked':
      return [`(deny file-read* file-write* ${subpath(mount.at)})`];
    default:
      return [];
  }
}

function renderNetwork(
  { policy, local }: ProfileRequest['network'],
  ports: readonly number[],
  sockets: readonly string[],
): string[] {
  const allowed = [
    ...[...local, ...ports].map((port) => `(remote ip "localhost:${port}")`),
    ...sockets.map((path) => `(remote unix-socket (path-literal ${quote(path)}))`),
  ];
  const only = allowed.length === 0 ? [] : [`(allow network-outbound ${allowed.join(' ')})`];
  if (policy !== 'full') return ['(deny network*)', ...only];
  // Services of this machine, such as the daemon, stay denied although the network is open.
  return ['(deny network-outbound (remote ip "localhost:*") (remote unix-socket))', ...only];
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`;
}
