/** How the machine outside HOME appears in a sandbox: read-only, except for these paths. */
export interface SystemRow {
  readonly treatment: 'absent' | 'empty' | 'scratch' | 'read';
  readonly why: string;
  readonly paths: readonly string[];
  /** Applies only if Baton runs as root: the session, whose user id outside is 0, could read root's files. */
  readonly isForRoot?: boolean;
}

export const SYSTEM_TABLE: readonly SystemRow[] = [
  {
    treatment: 'absent',
    why: 'Homes, other disks, and what each session has of its own',
    paths: words`/home /root /tmp /proc /dev /run /mnt /media /boot /lost+found /cdrom /swapfile /swap.img /Users /Volumes`,
  },
  {
    treatment: 'read',
    why: 'Programs that lie in a hidden folder',
    paths: words`/run/current-system /run/opengl-driver /home/linuxbrew/.linuxbrew`,
  },
  {
    treatment: 'scratch',
    why: 'A socket can be connected to through a read-only folder: docker, dbus, ssh agents, podman, snapd and others',
    paths: words`/run /var/run`,
  },
  {
    treatment: 'empty',
    why: 'Sockets and data of services, mail, and jobs that run outside',
    paths: words`
      /var/lib/docker /var/lib/containerd /var/lib/lxd /var/lib/incus /var/snap /var/lib/libvirt /var/lib/kubelet
      /var/lib/rancher /etc/rancher /etc/kubernetes /var/lib/mysql /var/lib/postgresql /var/lib/sss /var/lib/samba
      /var/lib/cloud /var/lib/waagent /var/lib/amazon /var/lib/bluetooth /var/lib/systemd/coredump
      /var/spool /var/mail /var/backups /var/guix/daemon-socket /nix/var/nix/daemon-socket
    `,
  },
  {
    treatment: 'empty',
    why: 'Kernel interfaces whose files belong to root',
    paths: words`/sys/kernel/debug /sys/kernel/tracing /sys/kernel/security /sys/fs/bpf /sys/fs/pstore /sys/firmware`,
    isForRoot: true,
  },
];

/** As root, entries that other users cannot read are hidden, in these folders and in their direct subfolders. */
export const ROOT_ONLY_FOLDERS: readonly string[] = words`/etc /var /opt /srv /usr/local/etc`;

function words({ raw }: TemplateStringsArray): string[] {
  return (raw[0] ?? '').trim().split(/\s+/);
}
